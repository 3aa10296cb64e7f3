// Reads a JSON list of diagrams on stdin; writes, for each, what Mermaid says against it ("" for
// nothing), the labels of its nodes by id, and its edges. Run where node_modules lies.
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!doctype html><body></body>");
globalThis.window = window; // DOMPurify, which cleans labels, needs a document
globalThis.document = window.document;
const { default: mermaid } = await import("mermaid");
mermaid.initialize({ startOnLoad: false, securityLevel: "strict", suppressErrorRendering: true });

async function read(text) {
  try {
    await mermaid.parse(text);
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
    const labels = [...db.getVertices().values()].map((node) => [node.id, node.text]);
    return { error: "", labels: Object.fromEntries(labels), edges: db.getEdges().map((edge) => [edge.start, edge.end]) };
  } catch (error) {
    return { error: String(error.message ?? error), labels: {}, edges: [] };
  }
}

const found = [];
for (const text of JSON.parse(await new Response(process.stdin).text())) found.push(await read(text));
console.log(JSON.stringify(found));

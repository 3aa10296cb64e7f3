"""The Chinese of every English message; words of the domain (types, gates, verdicts) among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_HELP: Final = {
    "Usage": "用法",
    "Arguments": "参数",
    "Commands": "命令",
    "Options": "选项",
    "Options of every command": "每个命令都有的选项",
    "Exit codes": "退出码",
    "Show this message and exit.": "显示本帮助并退出。",
    "Missing command.": "缺少命令。",
    "default": "默认",
    "required": "必填",
    "is missing": "缺失",
    "is no command": "不是命令",
    "is no option": "不是选项",
    "did you mean {name}?": "是不是想用 {name}？",
    "Start here": "从这里开始",
    "Look things up": "查找",
    "Put things in": "写入",
    "Look after it": "维护",
    "memstrata: what AI agents remember, local first.": "memstrata：AI 智能体的记忆，本地优先。",
    "Take the tour: see what is kept, refused, superseded and injected.": (
        "演示：看哪些被保留、被拒绝、被取代，又会注入什么。"
    ),
    "Search memories, then messages, best first.": "先搜记忆，再搜消息，最相关的在前。",
    "List the tasks of agent sessions, newest first, with what became of their steps.": (
        "列出智能体会话的任务及其各步骤的结果，最新的在前。"
    ),
    "Show the full text of an archived tool result.": "显示一条已归档工具结果的全文。",
    "only of this agent session": "只看这个智能体会话",
    "a tool_call_id, a node of a task graph (001-N3), or its file": (
        "tool_call_id、任务图的节点（001-N3）或其文件"
    ),
    "from this line on": "从这一行开始",
    "so many lines, at most 400": "行数，最多 400",
    "only lines that hold this text": "只显示含有这段文字的行",
    "Measure how much of long agent runs is folded, and what can still be read.": (
        "测量长的智能体运行被折叠了多少，以及还能读到什么。"
    ),
    "recorded runs (SWE-agent, τ-bench), a file or a folder": (
        "记录下来的运行（SWE-agent、τ-bench），文件或文件夹"
    ),
    "the model's window in tokens (may be repeated; else 16000, 32000, 128000)": (
        "模型窗口的 token 数（可重复；默认 16000、32000、128000）"
    ),
    "task": "任务",
    "goal": "目标",
    "steps": "步骤",
    "updated": "更新于",
    "List memories in the order they were made, ended ones included.": (
        "按产生的先后列出记忆，已失效的也在内。"
    ),
    "Show one memory: every field, then its text.": "显示一条记忆：所有字段，然后是正文。",
    "Trace where a memory came from and what superseded it, or what came of a message.": (
        "追溯记忆的来源与取代关系，或由某条消息产生的记忆。"
    ),
    "Show every version of a memory, oldest first; of a deleted one too.": (
        "显示一条记忆的所有版本，最旧的在前；已删除的也可以。"
    ),
    "what changed from version A to B, instead": "改为显示版本 A 到 B 的变化",
    "Show what became of each candidate and why, newest first.": "显示每个候选的结果及原因，最新的在前。",
    "Add a memory by hand; only the sensitive gate stands before it.": (
        "手动添加一条记忆；只经过敏感信息关卡。"
    ),
    "Import conversations and extract what is worth keeping.": "导入对话并提取值得保留的内容。",
    "Extract what waits: messages that were stored and not yet extracted.": "处理等待提取的消息：已保存而尚未提取的。",
    "also what was set aside or waits for its next try": "已搁置的、等待重试的也一并处理",
    "Do the home's background work until there is none; one process at a time does it.": (
        "处理数据目录的后台工作，直到没有为止；同一时间只有一个进程在做。"
    ),
    "end after so long without work (else worker.idle_exit_seconds)": (
        "这么久没有工作就结束（否则按 worker.idle_exit_seconds）"
    ),
    "no work is left": "没有剩下的工作",
    "Rebuild the index from the files; only hit counts and verdicts' numbers change.": (
        "用文件重建索引；只有命中次数与判定编号会变。"
    ),
    "Show what there is, how it is searched and what is degraded.": (
        "显示现有内容、检索方式，以及哪些功能降级。"
    ),
    "Check everything: database, files, text index, jobs, room.": (
        "检查一切：数据库、文件、全文索引、任务、余量。"
    ),
    "also batches of which a candidate was refused so (quota)": (
        "也重新提取有候选因此被拒的批次（quota 即超额）"
    ),
    "has no ## heading and no entry such as - 2026-05-01: …; not saved": (
        "没有 ## 标题，也没有如“- 2026-05-01: …”的条目；未保存"
    ),
    "embedder": "向量模型",
    "vectors": "向量",
    "{made} of {wanted} texts": "{wanted} 段文本中的 {made} 段",
    "spent today": "今日用量",
    "{purpose}: {calls} calls, {failed} failed, {tokens} tokens": (
        "{purpose}：调用 {calls} 次，失败 {failed} 次，{tokens} 个词元"
    ),
    "Look after the vectors.": "管理向量。",
    "Clear every vector and make all of them again.": "清除所有向量并重新生成。",
    "{n} vectors made": "已生成 {n} 个向量",
    "embedding": "生成向量",
    "Measure it on data whose answers are known.": "用已知答案的数据评测。",
    "Measure how well what was said is found, beside plain full text and plain vectors.": (
        "评测说过的话能否找回，并与单纯的全文检索和向量检索对照。"
    ),
    "a data set or a folder of them: LoCoMo, MADial-Bench, RealMem, LongMemEval (may be repeated)": (
        "LoCoMo、MADial-Bench、RealMem、LongMemEval（可重复）"
    ),
    "measure it without that, too (may be repeated)": "关掉此项后再测一遍（可重复）",
    "write the report there, too": "报告同时写到此文件",
    "Look at the settings and change them.": "查看并修改设置。",
    "Show every setting, its value and where that came from.": "显示每项设置、其值与来源。",
    "See and correct what is remembered, in a browser on this machine, until told to end.": (
        "在本机浏览器中查看并修正记忆，直到要求结束。"
    ),
    "at which port": "端口",
    "of a server, instead of the home": "使用此服务器而不是本机主目录",
    "the token of that server (else $MEMSTRATA_TOKEN)": "该服务器的令牌（否则用 $MEMSTRATA_TOKEN）",
    "the panel is at {url}": "面板地址：{url}",
    "Set a setting in the home's config.toml; its comments are kept.": (
        "在主目录的 config.toml 中设定一项；其中的注释会保留。"
    ),
    "Take a setting out of the home's config.toml again.": "从主目录的 config.toml 中去掉一项设定。",
    "such as recall.max_tokens": "例如 recall.max_tokens",
    'as in TOML: 900, true, ["a", "b"], or a bare text': '按 TOML 书写：900、true、["a", "b"]，或直接写文本',
    "It takes effect when memstrata is started again.": "重新启动 memstrata 后生效。",
    "Call the model that extracts and show what it says, or why it fails.": (
        "调用负责提取的模型，显示它的回答或失败原因。"
    ),
    "the home (else $MEMSTRATA_HOME, else ~/.memstrata)": (
        "数据目录（否则 $MEMSTRATA_HOME，再否则 ~/.memstrata）"
    ),
    "whose memories (else local)": "谁的记忆（否则为 local）",
    "one JSON document on stdout, errors as JSON on stderr": (
        "标准输出为一个 JSON 文档，错误以 JSON 写到标准错误"
    ),
    "language (else $MEMSTRATA_LANG, the locale)": "语言（否则按 $MEMSTRATA_LANG、系统语言）",
    "on a bug, the whole traceback": "出现程序缺陷时显示完整回溯",
    "your own conversation, in any format of import": "自己的对话，import 支持的任何格式",
    "its format (else told by its content)": "文件格式（否则按内容判断）",
    "what to look for, in words": "要找什么，用词语描述",
    "only this kind (may be repeated)": "只要这一类（可重复）",
    "only this scope": "只要这个范围",
    "only this type": "只要这个类型",
    "only this status": "只要这个状态",
    "only this verdict": "只要这种判定",
    "only candidates of this session": "只要这个会话的候选",
    "of a message: its session, if ids repeat": "指消息：其会话（编号重复时用）",
    "only with this in name or description": "名称或描述里含有此文本",
    "at most so many": "最多这么多",
    "go on where a page ended": "从上一页的末尾继续",
    "what was true then (2026-05-10T09:30)": "当时成立的（2026-05-10T09:30）",
    "what we had learned by then": "到那时已得知的",
    "what has ended, too": "已失效的也要",
    "a folder of the project (else the bound one you are in)": (
        "项目的目录（否则为当前所在的已绑定项目）"
    ),
    "the agent whose memories count": "计入哪个智能体的记忆",
    "the id of a memory": "记忆的编号",
    "the id of a memory or a message": "记忆或消息的编号",
    "short, and unique in its scope": "简短，在其范围内唯一",
    "the one line that is injected": "注入时所用的一行",
    "who may see it": "谁能看到",
    "what it is": "它是什么",
    "more about it; - reads it from stdin": "详细内容；- 表示从标准输入读取",
    "a name it is about (may be repeated)": "涉及的名称（可重复）",
    "0 to 100, or -1 for a standing rule": "0 到 100，-1 表示长期规则",
    "the last day that counts (2026-10-31)": "最后适用日（2026-10-31）",
    "a file, or a folder of files": "一个文件，或一个目录",
    "store the messages only; see memstrata extract": "只保存消息；之后见 memstrata extract",
}
_CODES: Final = {
    "done": "完成",
    "can never work as given": "这样给出的内容不可能成立",
    "this caller may not": "调用者无权",
    "no such id here": "此处没有这个编号",
    "moved meanwhile or the name is taken; nothing was saved": (
        "其间已变动或名称被占用；什么都没有保存"
    ),
    "a gate said no": "被关卡拒绝",
    "a model, the database or the disk is away; worth trying again": (
        "模型、数据库或磁盘不可用；可以再试"
    ),
    "a file or row cannot be read; it was left untouched": "文件或行无法读取；未作改动",
    "a bug": "程序缺陷",
    "interrupted": "被中断",
    "the reader of a pipe has gone": "管道的读取方已退出",
    "error": "错误",
    "note": "提示",
    "no {kind} {id!r} here": "此处没有{kind} {id!r}",
    "memory or message": "记忆或消息",
    "workspace": "项目",
    "refused by the {gate} gate: {reason}": "被{gate}关卡拒绝：{reason}",
    "interrupted; what was done so far is kept": "已中断；已完成的部分保留",
    "run it again with --traceback to see where": "加上 --traceback 再运行一次可看到位置",
}
_WORDS: Final = {
    "id": "编号",
    "scope": "范围",
    "type": "类型",
    "status": "状态",
    "memory": "记忆",
    "message": "消息",
    "user": "用户",
    "assistant": "助手",
    "tool": "工具",
    "person": "本人",
    "project": "项目",
    "agent": "智能体",
    "feedback": "准则",
    "reference": "参考",
    "episodic": "经历",
    "active": "有效",
    "expired": "过期",
    "invalid": "失效",
    "archived": "归档",
    "extraction": "提取",
    "manual": "手动",
    "consolidation": "整理",
    "import": "导入",
    "sync": "同步",
    "file": "文件",
    "live": "在",
    "absent": "不在",
    "stale": "陈旧",
    "add": "新增",
    "update": "更新",
    "merge": "合并",
    "delete": "终止",
    "transient": "临时",
    "low_confidence": "置信度低",
    "low_priority": "优先级低",
    "unsupported": "无依据",
    "authority": "越权",
    "no_workspace": "无项目",
    "noop": "已知",
    "quota": "配额",
    "sensitive": "敏感",
    "malformed": "格式错误",
    "confidence": "置信度",
    "duplicates": "重复",
    "source": "补充来源",
    "supersede": "被取代",
    "invalidate": "失效",
    "edit": "编辑",
    "archive": "归档",
    "restore": "恢复",
    "matched": "匹配",
    "empty": "无匹配",
    "disabled": "已关闭",
    "stable": "固定部分",
    "turn": "本轮部分",
}
_RENDERED: Final = {
    "description": "描述",
    "owner": "所有者",
    "priority": "优先级",
    "entities": "实体",
    "origin": "来源",
    "scene": "情境",
    "said": "说于",
    "happened": "发生于",
    "valid from": "起效",
    "last day that counts": "最后适用日",
    "version": "版本",
    "learned": "得知",
    "changed": "更改",
    "recalled": "命中次数",
    "file state": "文件状态",
    "when": "时间",
    "change": "变更",
    "who": "何人",
    "why": "原因",
    "kind": "类别",
    "score": "得分",
    "found": "内容",
    "verdict": "判定",
    "candidate": "候选",
    "kept as": "保留为",
    "session": "会话",
    "format": "格式",
    "sessions": "会话数",
    "stored": "已保存",
    "there already": "原已存在",
    "unreadable": "无法读取",
    "setting": "设置",
    "value": "值",
    "time unknown": "时间未知",
    "none": "无",
    "no memory": "没有记忆",
    "nothing found": "没有找到",
    "no verdict": "没有判定",
    "since {when}": "自 {when} 起",
    "superseded by {id}": "被 {id} 取代",
    "superseded by": "被取代，新的是",
    "supersedes": "取代了",
    "memories that came of it": "由此产生的记忆",
    "quote": "原话",
    "gone": "已不在",
    "no source": "没有来源",
    "left as it is": "保持原样",
    "files and index agree": "文件与索引一致",
    "extracted: {messages} messages; verdicts: {told}": "已提取 {messages} 条消息；判定：{told}",
    "{path} ({format}): {stored} stored, {existing} there already, {bad} unreadable, sessions: {sessions}": (
        "{path}（{format}）：新存 {stored}，原有 {existing}，无法读取 {bad}，会话 {sessions}"
    ),
    "there is more: --cursor {cursor}": "还有更多：--cursor {cursor}",
    "degraded: {what}": "降级：{what}",
    "set aside: {what}": "已搁置：{what}",
    "tried again later: {what}": "稍后重试：{what}",
    "{n} messages wait for extraction ({extractor})": "{n} 条消息等待提取（{extractor}）",
    "importing": "导入",
    "measuring": "评测",
    "extracting": "提取",
    "conversations": "对话",
    "records": "记录",
}
_LAYERS: Final = {
    "See what is known, matter by matter, each paragraph with its sources.": (
        "按事情查看已知内容，每段都注明依据。"
    ),
    "See who the person is and how to work with them, each line with its sources.": (
        "查看用户画像与相处方式，每行都注明依据。"
    ),
    "List the scenes, hottest first.": "列出情境，最热的在前。",
    "Show one scene, each paragraph with the memories that it rests on.": (
        "显示一个情境，每段附上所依据的记忆。"
    ),
    "Bring the scenes up to date now, whatever waits; a model does it if one is set.": (
        "立即更新情境，无需等待；设有模型时由模型来做。"
    ),
    "List the versions of the scenes that are kept, newest first.": "列出保留的情境版本，最新的在前。",
    "Bring an older version of the scenes back.": "恢复情境的旧版本。",
    "Show the persona, each line with its number and what it rests on.": (
        "显示画像，每行附上编号与依据。"
    ),
    "Write the persona yourself; what is new in it is locked, and stays.": (
        "自己编写画像；新写的内容会被锁定并保留。"
    ),
    "Keep a line of the persona: it survives every regeneration.": "锁定画像的一行：重新生成时保留。",
    "Let a line of the persona go the way of the others.": "解除画像一行的锁定。",
    "Make the persona anew now; a model does it if one is set.": (
        "立即重新生成画像；设有模型时由模型来做。"
    ),
    "List the versions of the persona that are kept, newest first.": "列出保留的画像版本，最新的在前。",
    "Bring an older version of the persona back.": "恢复画像的旧版本。",
    "its name, or its id": "名称或编号",
    "the number of a line, as it is shown": "所显示的行号",
    "which one (else the one before this)": "哪一个版本（否则为上一个）",
    "the whole new persona; - is stdin (else your editor opens)": (
        "完整的新画像；- 表示标准输入（否则打开编辑器）"
    ),
    "heat": "热度",
    "paragraphs": "段数",
    "summary": "摘要",
    "made": "创建于",
    "scenes": "情境",
    "persona": "画像",
    "layers": "情境与画像",
    "locked": "已锁定",
    "no scene": "没有情境",
    "no persona": "没有画像",
    "no version": "没有版本",
    "{n} lines": "{n} 行",
    "brought back: {n} files": "已恢复 {n} 个文件",
    "told in scene": "见于情境",
    "told in persona": "见于画像",
    "rests on": "依据",
    "retelling": "更新情境",
    "about {calls} calls of {model}: {extraction} for {messages} messages, {scenes} for scenes, "
    "{persona} for the persona": (
        "约 {calls} 次调用 {model}：{messages} 条消息 {extraction} 次，情境 {scenes} 次，画像 {persona} 次"
    ),
}
_STATE: Final = {
    "home": "数据目录",
    "on": "开",
    "off": "关",
    "search profile": "检索方案",
    "tokenizer": "分词器",
    "time zone": "时区",
    "memories": "记忆数",
    "messages": "消息数",
    "waiting": "等待提取",
    "{n} messages (memstrata extract)": "{n} 条消息（memstrata extract）",
    "verdicts": "判定数",
    "workspaces": "项目列表",
    "almost full": "将满",
    "no model": "没有模型",
    "set aside": "已搁置",
    "tried again": "稍后重试",
    "worker": "后台进程",
    "nobody": "无",
    "process {pid} on {host} ({role}) since {when}": "进程 {pid}，{host}（{role}），自 {when}",
    "library": "程序库",
    "drain": "一次性处理",
    "problems": "问题",
    "degraded": "降级",
    "ok": "正常",
    "FAULT": "故障",
    "database": "数据库",
    "files": "文件",
    "reconcile": "对账",
    "text index": "全文索引",
    "room": "余量",
}
_DEMO: Final = {
    "{messages} messages of {sessions} sessions went in ({source}).": (
        "已读入 {sessions} 个会话的 {messages} 条消息（{source}）。"
    ),
    "the conversation that ships with memstrata": "memstrata 自带的对话",
    "set for this demo: {key} = {value}": "本次演示的设置：{key} = {value}",
    "Kept: {n} memories": "保留：{n} 条记忆",
    "… and {n} more": "……另有 {n} 条",
    "Superseded: {n}": "取代：{n} 条",
    "no longer since {when}": "自 {when} 起不再成立",
    "Refused: {n}, by the gates in their order": "拒绝：{n} 条，按关卡的次序",
    "nothing": "无",
    "masked before it was stored": "保存前已遮蔽",
    "Injected for {n} new questions, each within {m} tokens": (
        "为 {n} 个新问题注入的内容，各不超过 {m} 个词元"
    ),
    "Into the system prompt, the same each time": "写入系统提示，每次相同",
    "nothing more": "没有更多",
    "{n} tokens, {status}": "{n} 个词元，{status}",
    "Go on": "接下来",
    "what this demo kept": "本次演示保留的记忆",
    "what it refused, and why": "拒绝了什么，为什么",
    "your own conversations": "导入自己的对话",
    "what is known about it": "查找已知的内容",
    "this demo used a temporary home, which is gone": "本次演示用的是临时目录，现已删除",
}
_TEAM: Final = {
    "Keep the one document that a team shares, or your private one.": "维护团队共享的文档，或你的私人文档。",
    "Show the document.": "显示文档。",
    "Save a new document, merged with what others saved; what you delete in an editor is deleted.": (
        "保存新文档，并与他人其间所存的合并。在编辑器里删掉的就是删掉。"
    ),
    "Show every revision of the document, oldest first.": "显示文档的所有修订版，最旧的在前。",
    "Show what changed between two revisions.": "显示两个修订版之间的变化。",
    "Take the newest revision back; again: the one before it. No revision is lost.": (
        "撤回最新的修订版；再撤回更早的一个。修订版都不会丢失。"
    ),
    "Empty the document. Its revisions stay, so undo brings it back.": (
        "清空文档。修订版保留，可用 undo 恢复。"
    ),
    "your private document, not the team's of a project": "你的私人文档，而非项目的团队文档",
    "an older revision": "较旧的修订版",
    "the whole new document; - is stdin (else your editor opens)": (
        "整个新文档；- 为标准输入（否则打开编辑器）"
    ),
    "the revision that it was made from": "它所依据的修订版",
    "however much is missing in it, it is to go": "无论缺少多少，一律删除",
    "the number of a revision": "修订版的编号",
    "a later one (else the document as it is)": "较新的一个（否则为当前文档）",
    "bring this revision back instead": "改为恢复这个修订版",
    "yes, empty it": "确认清空",
    "revision": "修订版",
    "door": "入口",
    "characters": "字数",
    "no revision": "没有修订版",
    "save": "保存",
    "reset": "清空",
    "revision {rev}, {size} of {most} characters": "修订版 {rev}，{size} 字，上限 {most}",
    "the file says something else and is left as it is: {why}": "文件内容与此不同，保持原样：{why}",
    "saved: revision {rev}": "已保存：修订版 {rev}",
    "nothing to save: revision {rev}": "没有要保存的：修订版 {rev}",
    "somebody else changed this line too, both stay ({heading}): {theirs} | {yours}": (
        "他人也改了这一行，两者都保留（{heading}）：{theirs} | {yours}"
    ),
    "left out, and kept all the same: {line}": "未列出而仍保留：{line}",
    "nothing changed": "没有变化",
    "your text is kept in {path}": "你的文本保存在 {path}",
}

_LIFECYCLE: Final = {
    "Put things right": "更正",
    "Correct a memory: a new version, yours from here on. Where it came from stays on record.": (
        "更正一条记忆：产生新版本，此后以你为准。原来的来源仍有记录。"
    ),
    "Put a memory aside: it stays in its file, nothing finds or injects it.": (
        "归档一条记忆：文件保留，不再检索或注入。"
    ),
    "Bring back a memory that was put aside or has ended, or what an older version said.": (
        "恢复已归档或已失效的记忆，或恢复旧版本的内容。"
    ),
    "Delete a memory for good, its file too. What it said stays in history.": (
        "彻底删除一条记忆，连同其文件。它说过的仍在历史中。"
    ),
    'a name it is about (may be repeated); "" for none': '涉及的名称（可重复）；"" 表示没有',
    "0 to 1 (else 1)": "0 到 1（否则为 1）",
    'when it happened; "" for unknown': '何时发生；"" 表示未知',
    'until when; "" for unknown': '到何时为止；"" 表示未知',
    'the last day that counts; "" for no end': '最后适用日；"" 表示无期限',
    "refuse if it is another (else the newest)": "版本不符就拒绝（否则为最新版本）",
    "change it as Markdown in your editor ($EDITOR)": "在编辑器（$EDITOR）里以 Markdown 修改",
    "with what it said then (see history)": "恢复成当时的内容（见 history）",
    "do not ask": "不询问",
    "Erase memories, a session, all about a name or of a time, for good: text, history, index, files.": (
        "永久抹除记忆、会话、某名称或某时段的一切：文本、历史、索引、文件。"
    ),
    "memories; what they were drawn from goes too": "记忆；其来源的消息一并抹除",
    "what was said in this session": "此会话中说过的",
    "what names this": "提到此名称的",
    "what was said then or later (2026-05-10)": "从那时起说过的（2026-05-10）",
    "what was said until then, that day included": "到那时为止说过的，含当天",
    "count what would go, and change nothing": "只统计将抹除什么，不作改动",
    "read every byte afterwards, the database's too": "之后逐字节检查，数据库也在内",
    "forget {messages} messages and {memories} memories for good? [y/N]": (
        "永久抹除 {messages} 条消息和 {memories} 条记忆吗？[y/N]"
    ),
    "this would be forgotten; nothing was changed": "将会抹除以下内容；尚未改动",
    "forgotten": "已抹除",
    "forget": "抹除",
    "jobs": "任务",
    "memories that lose sources": "失去部分来源的记忆",
    "versions in history": "历史版本",
    "record lines": "记录行",
    "verdicts": "判定",
    "batches extracted again": "重新提取的批次",
    "torn tails of logs": "日志的残尾",
    "backups of the database": "数据库备份",
    "not reached: the git history of {what}": "无法触及：{what} 的 git 历史",
    "not reached: the logs of {what}, which read it": "无法触及：读过它的 {what} 的日志",
    "not reached: the logs of {what}, which made vectors of it": (
        "无法触及：为它生成向量的 {what} 的日志"
    ),
    "{what} says some of it; see memstrata team edit": (
        "{what} 里有其中的内容；请用 memstrata team edit 修改"
    ),
    "{what} is not there; its files go when it is back": "{what} 不在；恢复后其文件会被抹除",
    "{what} still holds some of it": "{what} 仍含有其中的内容",
    "not yet: {what}": "尚未完成：{what}",
    "not reached: exports, backups of your own, other homes, a disk's old blocks": (
        "无法触及：导出文件、自己的备份、其他数据目录、磁盘上的旧数据块"
    ),
    "verified: no file holds any of the {n} texts looked for": (
        "已核实：没有文件含有所查的 {n} 段文本"
    ),
    "verified: {n} files still hold some of it": "已核实：仍有 {n} 个文件含有其中的内容",
    "{n} texts are too short or too many to look for": "{n} 段文本太短或太多，未查",
    "{n} are said elsewhere, too": "{n} 段在别处也说过",
    "nothing was deleted": "什么都没有删除",
    "deleted: {what}": "已删除：{what}",
    "deleted": "删除",
    "delete {what}? [y/N]": "删除 {what} 吗？[y/N]",
    "its file could not be removed and is tried again: {path} ({why})": (
        "其文件无法移除，稍后会再试：{path}（{why}）"
    ),
}

_CONSOLIDATE: Final = {
    "Merge memories that say the same; propose general rules for scattered ones.": (
        "合并说同一件事的记忆；为零散的准则提出一条通用准则。"
    ),
    "Decide on general rules that were made of scattered ones.": "决定由零散准则归纳出的通用准则。",
    "List the general rules that wait for you.": "列出等待你决定的通用准则。",
    "Show a general rule, what it was made of, and the digest to confirm it by.": (
        "显示一条通用准则、它的来源，以及确认时要用的摘要。"
    ),
    "Make a general rule a memory, as it was shown to you, in other words if you give them.": (
        "把通用准则按所显示的内容存为记忆；也可改写后再存。"
    ),
    "Decide against a general rule; the same is not proposed again.": (
        "否决一条通用准则；相同的不再提出。"
    ),
    "only show the plan, and keep it for a day": "只显示计划，并保留一天",
    "carry out the plan of a dry run, exactly": "原样执行预演得到的计划",
    "the id of a candidate": "候选的编号",
    "what it was shown under (else you are asked)": "显示时的摘要（否则会询问）",
    "carry it out: memstrata consolidate --apply {digest}": (
        "执行：memstrata consolidate --apply {digest}"
    ),
    "consolidation of {scope} failed, nothing was changed: {why}": (
        "{scope}范围的整理失败，未作任何改动：{why}"
    ),
    "no model is set: only memories that are the same word for word are merged, no rule is proposed": (
        "未设置模型：只合并逐字相同的记忆，不提出准则"
    ),
    "nothing to do": "没有要做的",
    "refused": "拒绝",
    "sources": "来源数",
    "no candidate waits": "没有等待决定的候选",
    "proposed by": "提出者",
    "name taken by": "名称已属于",
    "digest": "摘要",
    "made of {n} rules": "由 {n} 条准则归纳",
    "changed since": "其后已更改",
    "it goes on waiting": "继续等待",
    "make it a rule? [y/N]": "存为准则吗？[y/N]",
    "confirmed: {what}": "已确认：{what}",
    "rejected: {what}": "已否决：{what}",
    "candidates": "候选",
    "consolidated": "上次整理",
    "consolidating": "整理",
    "consolidated: {merged} merged, {proposed} rules proposed": (
        "整理：合并 {merged} 条，提出 {proposed} 条准则"
    ),
}

_AGENTS: Final = {
    "Serve MCP over stdin and stdout: the tools by which an agent reads memory.": (
        "通过标准输入输出提供 MCP：智能体读取记忆的工具。"
    ),
    "the session that calls are listed under": "调用记在哪个会话名下",
    "the agent session whose archived tool results and tasks it may read, too": (
        "还可读取其归档工具结果和任务的智能体会话"
    ),
    "List the conversations, what was said in one, or what agents read by their tools.": (
        "列出对话、某个对话的内容，或智能体通过工具读取了什么。"
    ),
    "of this session": "属于这个会话",
    "what agents read by their tools, newest first; no texts": (
        "智能体通过工具读取的内容，最新的在前；不含正文"
    ),
    "mcp": "MCP 服务",
    "speaking MCP on stdin and stdout, for a client; Ctrl-C ends it": (
        "正在标准输入输出上说 MCP，供客户端使用；按 Ctrl-C 结束"
    ),
    "no read": "没有读取记录",
    "caller": "调用者",
    "outcome": "结果",
    "ids": "id 列表",
}

_ENTITIES: Final = {
    "See what memories name, join two names of a thing, or part them.": (
        "查看记忆提到的名称，合并或拆开同一事物的不同叫法。"
    ),
    "List the people, libraries and systems that memories name, those of most memories first.": (
        "列出记忆提到的人、库与系统，提到最多的在前。"
    ),
    "Let a name be another one of a thing: what shares it is related, from now on.": (
        "把一个名称并入某事物：从此共用它的记忆互相关联。"
    ),
    "Let a name be a thing of its own again, whoever joined it.": "让一个名称重新独立，不论由谁合并。",
    "a name, as @arco-design for a package's scope": "一个名称；@arco-design 表示包的作用域",
    "the thing that it is": "它所指的事物",
    "{alias} is {of} from now on": "{alias} 从现在起就是 {of}",
    "{alias} is a thing of its own": "{alias} 已独立",
    "no memory names anything": "没有记忆提到任何名称",
    "name": "名称",
    "written": "写法",
    "aliases": "别名",
}

_WORKSPACES: Final = {
    "Look after the folders of projects.": "管理项目文件夹。",
    "List the bound workspaces, what they hold and what nobody looked at yet.": (
        "列出已绑定的工作区、其中的记忆以及尚未过目的记忆。"
    ),
    "Bind the workspace of a folder to this home, and take in what it holds.": (
        "把文件夹所在的工作区绑定到本数据目录，并收入其中的记忆。"
    ),
    "Let this home forget a workspace; its files stay, and binding it brings all back.": (
        "让本数据目录忘记一个工作区；文件保留，重新绑定即全部恢复。"
    ),
    "Show what came with a workspace's files, and trust it as shown; changed files ask again.": (
        "显示随工作区文件而来的记忆，按所示内容信任；文件有变则重新询问。"
    ),
    "a folder of the project": "项目的文件夹",
    "its path, or its key or id as listed": "路径，或列表中的键或 id",
    "trust what was shown under it, unasked": "直接信任以此摘要显示过的内容",
    "{name} is bound: {root}": "已绑定 {name}：{root}",
    "{name} is bound no longer: {root}": "已解除绑定 {name}：{root}",
    "{n} memories are trusted": "已信任 {n} 条记忆",
    "trust them as they are? [y/N]": "按所示内容信任吗？[y/N]",
    "no workspace is bound": "没有绑定任何工作区",
    "not there": "不存在",
    "folder": "文件夹",
    "key": "键",
    "unreviewed": "未过目",
    "nothing is left to look at": "没有需要过目的记忆",
    "to trust them as shown: --digest {digest}": "按所示内容信任：--digest {digest}",
    "Mend the file of a memory that cannot be read: take a side of its merge conflict, or edit it.": (
        "修复一条记忆无法读取的文件：选取合并冲突的一方，或自行编辑。"
    ),
    "take our side of each conflict": "每处冲突取我方",
    "take their side of each conflict": "每处冲突取对方",
    "mend the text in your editor ($EDITOR)": "在编辑器（$EDITOR）里修改文本",
}

_SERVER: Final = {
    "Serve others": "提供服务",
    "Make tokens, see them, take them away.": "创建、查看、撤销令牌。",
    "where to listen (else server.host)": "监听地址（否则按 server.host）",
    "at which port (else server.port)": "监听端口（否则按 server.port）",
    "Serve the home over HTTP until told to end; its background work is done meanwhile.": (
        "通过 HTTP 提供数据目录，直到被要求结束；其间也处理后台工作。"
    ),
    "memstrata serves {url}": "memstrata 正在提供服务：{url}",
    "without MCP at /mcp: it needs pip install 'memstrata[mcp]'": (
        "未在 /mcp 提供 MCP：需要 pip install 'memstrata[mcp]'"
    ),
    "no longer served: {url}": "已停止服务：{url}",
    "what it lets its bearer do": "持有者可做什么",
    "what it is for; told by token list": "用途；token list 会显示",
    "its space; a home of files has one": "所属空间；文件形式的数据目录只有一个",
    "Make a token for --owner and print it, this once.": "为 --owner 创建令牌并打印，仅此一次。",
    "keep it: it is not shown again; the home keeps a digest": "请保存：不会再次显示；数据目录只存摘要",
    "List the tokens of the home, without their secrets.": "列出数据目录的令牌，不含密文。",
    "the id of a token (token list)": "令牌的编号（token list）",
    "Take a token away; from the next request on it opens nothing.": (
        "撤销令牌；从下一个请求起不再有效。"
    ),
    "revoked: {id}": "已撤销：{id}",
    "made": "创建时间",
    "role": "角色",
    "the id of a conversation (else all are listed)": "对话的编号（否则列出全部）",
    "key": "键",
    "name": "名称",
    "folder": "文件夹",
}

CHINESE: Final[Mapping[str, str]] = {
    **_HELP,
    **_CODES,
    **_WORDS,
    **_RENDERED,
    **_LAYERS,
    **_STATE,
    **_DEMO,
    **_TEAM,
    **_LIFECYCLE,
    **_CONSOLIDATE,
    **_AGENTS,
    **_ENTITIES,
    **_WORKSPACES,
    **_SERVER,
}

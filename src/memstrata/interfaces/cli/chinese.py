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
    "Look at the settings.": "查看设置。",
    "Show every setting, its value and where that came from.": "显示每项设置、其值与来源。",
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
    "nothing was deleted": "什么都没有删除",
    "deleted: {what}": "已删除：{what}",
    "deleted": "删除",
    "delete {what}? [y/N]": "删除 {what} 吗？[y/N]",
    "its file could not be removed and is tried again: {path} ({why})": (
        "其文件无法移除，稍后会再试：{path}（{why}）"
    ),
}

CHINESE: Final[Mapping[str, str]] = {
    **_HELP,
    **_CODES,
    **_WORDS,
    **_RENDERED,
    **_STATE,
    **_DEMO,
    **_TEAM,
    **_LIFECYCLE,
}

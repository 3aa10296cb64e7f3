"""Slots: what of a subject a memory tells. One slot holds one value, so a newer one supersedes it.

Slots are written in English in both languages: 换成 Brightwater supersedes "I work at Harrow". Where
two values can stand side by side (likings, rules of different content) the slot holds the value, or
there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Final

from memstrata.domain.lazy import Regex


def _table(text: str) -> Mapping[str, str]:
    """`slot: word | word` lines, turned into the slot of each word; a line that begins with `|` goes on."""
    rows = (row.partition(":") for row in re.sub(r"\n\s*\|", " |", text).strip().splitlines())
    return {word.strip(): slot.strip() for slot, _, words in rows for word in words.split("|")}


_DOMAIN_OF: Final = _table(
    """
    drink: tea | coffee | water | juice | beer | wine | espresso | latte | matcha | soda | cola
        | cocoa | lemonade | sparkling water | green tea | black tea | oat milk | 茶 | 咖啡
        | 绿茶 | 红茶 | 奶茶 | 果汁 | 啤酒 | 红酒 | 白开水 | 可乐 | 豆浆 | 拿铁 | 美式
    editor: vim | neovim | emacs | vs code | vscode | intellij | pycharm | sublime
        | sublime text | zed | helix | nano | webstorm
    theme: dark mode | light mode | dark theme | light theme | dark themes | light themes
        | 深色模式 | 浅色模式 | 深色主题 | 浅色主题 | 暗色主题 | 亮色主题 | 暗黑模式
    programming language: python | rust | go | golang | java | kotlin | typescript | javascript
        | ruby | c++ | c# | haskell | elixir | scala | swift | php | clojure | zig
    indentation: tabs | spaces | two spaces | four spaces | 2 spaces | 4 spaces | 制表符 | 空格
    operating system: linux | macos | windows | ubuntu | fedora | debian | arch | mac
    seat: window seat | window seats | aisle seat | aisle seats | the window seat
        | the aisle seat | an aisle seat | a window seat | 靠窗 | 靠窗的位置 | 靠窗的座位
        | 靠过道 | 靠过道的位置 | 靠过道的座位 | 过道位 | 窗边的位置
    shell: bash | zsh | fish | powershell
    browser: firefox | chrome | safari | edge | brave
    units: metric | imperial | metric units | imperial units | celsius | fahrenheit | 公制
        | 英制 | 摄氏度
    terminal: iterm | iterm2 | alacritty | kitty | wezterm | ghostty
    contact: email | e-mail | phone | phone calls | text messages | texting | slack | calls
        | video calls | 邮件 | 电话 | 微信 | 短信
    pet: cats | dogs | 猫 | 狗
    transport: the train | trains | train | flying | driving | the bus | cycling | the bike
        | 火车 | 高铁 | 飞机 | 开车 | 公交 | 地铁 | 骑车
    time of day: mornings | afternoons | evenings | the morning | the afternoon | the evening
        | 上午 | 下午 | 早上 | 晚上
    holiday: the mountains | the sea | the beach | the city | the countryside | mountains
        | beaches | 山 | 海边 | 海 | 城市 | 乡下
    reading: paper books | e-books | ebooks | audiobooks | physical books | 纸质书 | 电子书
        | 有声书
    """
)
_TOOL_OF: Final = _table(
    """
    indentation: tabs | spaces | two spaces | four spaces | 2 spaces | 4 spaces | 制表符 | 空格
    package manager: pnpm | npm | yarn | bun | pip | poetry | uv | pipenv | conda | pdm | cargo
    database: postgresql | postgres | mysql | mariadb | sqlite | mongodb | mongo | cockroachdb
        | dynamodb | oracle | cassandra | clickhouse | duckdb | tidb
    cache: redis | memcached | valkey
    test runner: jest | vitest | pytest | mocha | unittest | junit | rspec | ava | nose
    end-to-end tests: playwright | cypress | selenium | puppeteer
    user interface framework: react | vue | svelte | angular | solid | preact | ember | htmx
    web framework: django | flask | fastapi | rails | express | fastify | spring boot | nestjs
        | laravel | gin | koa
    bundler: webpack | vite | rollup | esbuild | parcel | turbopack | rspack
    styling: tailwind | sass | styled-components | css modules | less | emotion | unocss
    state management: redux | zustand | mobx | jotai | recoil | pinia | vuex
    linter: ruff | eslint | flake8 | pylint | biome | oxlint | golangci-lint
    formatter: black | prettier | gofmt | yapf | clang-format
    continuous integration: github actions | gitlab ci | jenkins | circleci | travis | buildkite
        | drone
    message queue: kafka | rabbitmq | nats | sqs | celery | pulsar
    version control: git | mercurial | svn | subversion | perforce
    issue tracker: jira | linear | trello | asana | github issues | redmine | youtrack
    chat: slack | teams | discord | mattermost | zulip | 飞书 | 钉钉 | 企业微信
    hosting: aws | gcp | azure | hetzner | digitalocean | 阿里云 | 腾讯云 | 华为云 | fly.io | fly
        | heroku | vercel | netlify | linode | ovh | cloudflare | google cloud | firebase
        | cloudflare pages | github pages
    container runtime: docker | podman | containerd
    design tool: figma | sketch | penpot
    monitoring: grafana | prometheus | datadog | sentry | newrelic | new relic
    container orchestration: kubernetes | k8s | nomad | docker swarm
    infrastructure: terraform | pulumi | ansible | opentofu
    wiki: confluence | notion | gitbook
    code hosting: github | gitlab | bitbucket | gitea | codeberg | forgejo
    web server: nginx | caddy | traefik | apache | haproxy
    """
)
_PURPOSE_OF: Final = (
    (Regex(r"\bdeploy|\brelease|\bship\b|部署|发布|上线"), "deployment"),
    (Regex(r"\bhost|托管"), "hosting"),
    (Regex(r"\bpackage|\bdependenc|管理依赖|包管理|依赖管理"), "package manager"),
    (Regex(r"\bindent|缩进"), "indentation"),
    (Regex(r"\bformat|格式化"), "formatter"),
    (Regex(r"\blint"), "linter"),
    (Regex(r"\bdatabase\b|\bstorage\b|数据库|存储"), "database"),
    (Regex(r"\bcach|缓存"), "cache"),
    (Regex(r"\be2e\b|\bend-to-end\b|端到端"), "end-to-end tests"),
    (Regex(r"\bunit tests?\b|\btest runner\b|\btests\b|\btesting\b|单元测试|单测|跑测试"), "test runner"),
    (Regex(r"\bci\b|持续集成"), "continuous integration"),
    (Regex(r"\bmonitor|监控"), "monitoring"),
    (Regex(r"\bbranch|分支"), "branching"),
    (Regex(r"\bstate management\b|状态管理"), "state management"),
    (Regex(r"\bqueue|消息队列"), "message queue"),
    (Regex(r"\btrack|任务管理|需求管理"), "issue tracker"),
)  # fmt: skip
_RULE_OF: Final = (
    (Regex(r"\bcommit messages?\b|提交信息|提交说明|commit 信息"), ""),
    (Regex(r"\bcomments?\b|注释|文档|变量|命名|\bcode\b|代码"), ""),
    (Regex(r"\bcall me\b|\baddress me\b|叫我|称呼我"), "form of address"),
    (
        Regex(
            r"\bin (?:\w+ )?(?:english|french|german|spanish|chinese|mandarin|japanese|portuguese|italian|dutch"
            r"|polish|korean|russian|swedish|norwegian|danish|czech)\b|用(?:简体|繁体)?(?:中文|英文"
            r"|英语|日语|汉语|法语|德语)"
        ),
        "answer language",
    ),
    (Regex(r"\bfirst\b.*\b(?:after|then|later)\b|先.*[再后]"), "answer order"),
    (
        Regex(
            r"(?:short|brief|concise|succinct|terse|longer?|detailed|thorough)\b.*\b(?:answers?|repl"
            r"|responses?)"
            r"|\b(?:answers?|replies|responses?|explanations?)\b.*\b(?:short|brief|concise|succinct"
            r"|terse|long|detailed)"
            r"|啰嗦|废话|(?:回答|回复|答案).*(?:简短|简洁|精简|短一?点|详细|简单)"
        ),
        "answer length",
    ),
    (Regex(r"\b(?:metric|imperial|celsius|fahrenheit)\b|公制|英制|摄氏"), "units"),
    (Regex(r"\b(?:british|american) spelling\b"), "spelling"),
    (Regex(r"\bemojis?\b|表情"), "emojis"),
)  # fmt: skip

CHINESE_NAMES: Final[Mapping[str, str]] = {
    "name": "名字", "employer": "雇主", "job": "职业", "home": "住处", "origin": "家乡", "languages": "语言",
    "birthday": "生日", "age": "年龄", "diet": "饮食", "studies": "学业", "marital status": "婚姻状况",
    "children": "孩子", "form of address": "称呼", "answer language": "回答语言", "answer order": "回答顺序",
    "answer length": "回答长短", "units": "单位", "freeze": "冻结", "package manager": "包管理器",
    "database": "数据库", "deployment": "部署", "test runner": "测试工具", "cache": "缓存",
    "formatter": "格式化工具", "linter": "代码检查", "hosting": "托管", "indentation": "缩进",
    "preferred drink": "偏好的饮品", "preferred editor": "偏好的编辑器", "preferred theme": "偏好的主题",
    "preferred seat": "偏好的座位", "preferred contact": "偏好的联系方式", "working arrangement": "工作方式",
    "preferred programming language": "偏好的编程语言", "preferred transport": "偏好的出行方式",
    "preferred time of day": "偏好的时段", "preferred pet": "偏好的宠物", "preferred holiday": "偏好的度假",
    "preferred units": "偏好的单位", "preferred reading": "偏好的读物", "field of work": "行业",
    "user interface framework": "前端框架", "web framework": "后端框架",
    "release date": "发布日期", "deadline": "截止日期", "launch date": "上线日期", "blood type": "血型",
    "zodiac sign": "星座", "height": "身高", "hometown": "家乡", "goal": "目标", "chat": "沟通工具",
    "continuous integration": "持续集成", "message queue": "消息队列", "issue tracker": "任务管理",
    "default branch": "默认分支", "state management": "状态管理", "bundler": "打包工具", "styling": "样式方案",
    "monitoring": "监控", "branching": "分支策略", "version control": "版本管理", "design tool": "设计工具",
    "container runtime": "容器", "end-to-end tests": "端到端测试", "main language": "主要语言",
    "preferred shell": "偏好的终端", "preferred browser": "偏好的浏览器", "smoking": "吸烟",
    "editor": "编辑器", "emojis": "表情符号", "web server": "网页服务器", "wiki": "知识库",
    "container orchestration": "容器编排", "infrastructure": "基础设施", "code hosting": "代码托管",
    "preferred terminal": "偏好的终端程序",
    "preferred operating system": "偏好的系统", "preferred indentation": "偏好的缩进",
}  # fmt: skip
_CHINESE_HEADS: Final = (
    ("taste in ", "对{}的喜好"),
    ("favourite ", "最喜欢的{}"),
    ("allergy to ", "过敏：{}"),
    ("health: ", "健康：{}"),
    ("owns ", "负责{}"),
    ("use of ", "使用{}"),
    ("pet ", "宠物{}"),
    ("name of ", "{}的名字"),
    ("preference: ", "偏好：{}"),
    ("habit: ", "习惯：{}"),
    ("where is ", "{}的位置"),
    ("skill in ", "技能：{}"),
    ("plays ", "会{}"),
    ("support for ", "对{}的支持"),
    ("consumes ", "吃喝：{}"),
    ("how they take ", "{}的喝法"),
    ("family: ", "家人：{}"),
)
_FAVOURITES: Final = _table(
    """
    colour: 颜色 | color | 色
    food: 食物 | 菜 | 吃的 | foods | dish
    drink: 饮料 | 饮品 | drinks
    book: 书 | books
    film: 电影 | movie | movies | films
    music: 音乐
    song: 歌 | 歌曲
    sport: 运动 | sports
    season: 季节
    city: 城市
    animal: 动物
    author: 作家 | 作者 | writer
    singer: 歌手
    game: 游戏 | games
    fruit: 水果
    band: 乐队
    number: 数字
    subject: 科目 | 学科
    """
)
_ARTICLE: Final = Regex(
    r"^(?:an?|the|some|any|my|their|our|having|drinking|to have|to drink|to|using|also) "
)


def key(text: str) -> str:
    """`text` as a slot's value: lower case, blanks collapsed, without a leading article."""
    return _ARTICLE.sub("", " ".join(text.lower().split()))


def preference(values: Mapping[str, str]) -> str:
    """`preferred drink` when `thing` (or `other`) is of a known domain, else a slot of the choice itself."""
    thing, other = key(values.get("thing", "")), key(values.get("other", ""))
    domain = _domain(thing) or _domain(other)
    if domain:
        return same(f"preferred {domain}")
    return "preference: " + " or ".join(sorted(filter(None, (thing, other))))


def _domain(thing: str) -> str:
    if thing in _DOMAIN_OF:
        return _DOMAIN_OF[thing]
    plain = re.sub(
        r"^(?:使用|[喝吃用坐养])\s?|\s+(?:on|for|in|with|at|over|before|after|during) .*$",
        "",
        thing,
    )
    return _DOMAIN_OF.get(plain, "")


def taste(values: Mapping[str, str]) -> str:
    """One slot for liking and disliking the same thing; drinking it is not another thing than it."""
    return f"taste in {_CONSUMED.sub('', key(values['thing']))}"


_CONSUMED: Final = Regex(r"^(?:[喝吃]|(?:使用|用)\s?(?=[a-z]))")


def choice(values: Mapping[str, str]) -> str:
    """The slot of what somebody changed to: that of the preference."""
    return preference({"thing": values["choice"], "other": values.get("dropped", "")})


def known_choice(text: str) -> bool:
    """True when `text` is a thing of a known domain: a choice that can only be one."""
    return _domain(key(text)) in _CHOSEN


_CHOSEN: Final = frozenset(
    (
        "drink", "editor", "theme", "programming language", "indentation", "operating system", "shell",
        "browser", "units", "terminal", "reading",
    )
)  # fmt: skip


def topic(values: Mapping[str, str]) -> str:
    """The slot of the rules of conduct about `topic`; `""` when there is none for it."""
    named = values["topic"].lower()
    return _TOPICS.get(named, "") or conduct({"rule": named})


def known_topic(text: str) -> bool:
    """True when rules of conduct about `text` share one slot, so that they can be ended."""
    return bool(topic({"topic": text}))


_TOPICS: Final = _table(
    """
    answer length: answer length | length of answers | short answers | brevity | length
    answer language: language | answer language | the language
    answer order: answer order | order of answers
    form of address: my name | names
    emojis: emoji | emojis | emoticons
    units: units
    """
)


def favourite(values: Mapping[str, str]) -> str:
    """`favourite colour`, in British spelling and English for the common kinds."""
    kind = key(values["kind"])
    return f"favourite {_FAVOURITES.get(kind, kind)}"


def tool(values: Mapping[str, str]) -> str:
    """What a project uses something for: by its stated purpose, by what the tool is, else the tool itself."""
    named = _SAID_ENDED.sub("", _TO_USE.sub("", key(values.get("tool", ""))))
    stated = f"{values.get('verb', '')} {values.get('purpose', '')} {named}".lower()
    for pattern, slot in _PURPOSE_OF:
        if pattern.search(stated):
            # Where it is deployed is where it is hosted.
            hosted = slot == "deployment" and any(
                _TOOL_OF.get(one) == "hosting" for one in _leading(named)
            )
            return "hosting" if hosted else slot
    for words in (named, *_leading(named)):
        if words in _TOOL_OF:
            return _TOOL_OF[words]
    for words in (key(values.get("other", "")), key(values.get("product", ""))):
        if words in _TOOL_OF:
            return _TOOL_OF[words]
    head = _HEAD.split(named)[0].strip()
    latin = _LATIN_HEAD.match(head)
    head = latin[0].strip() if latin else head
    return f"use of {head}" if 0 < len(head) <= (24 if head.isascii() else 8) else ""


_SAID_ENDED: Final = Regex(r"(?:了|啦|吧|的)+$")


def product(values: Mapping[str, str]) -> str:
    """What the named product is for."""
    return tool({"tool": values["product"]})


def support(values: Mapping[str, str]) -> str:
    """`support for redis`, whatever else was said behind it."""
    named = _SAID_ENDED.sub("", key(values["tool"]))
    return f"support for {_UNTIL_CLAUSE.split(named)[0].strip()}"


_UNTIL_CLAUSE: Final = Regex(
    r"[,;，；、:：]|\s[–—-]\s| (?:any ?more|any longer|and|but|because|since|so|in favou?r|instead|rather"
    r"|now|as of|from|starting|for (?=the |our |now))\b"
)


def dropped(values: Mapping[str, str]) -> str:
    """What a tool was used for that is used no longer."""
    named = _SAID_ENDED.sub("", key(values["tool"]))
    return tool({"tool": _UNTIL_CLAUSE.split(named)[0].strip()})


def first_of_two(values: Mapping[str, str]) -> str:
    """What the first of two tools named together is for."""
    return tool({"tool": values["first"]})


def second_of_two(values: Mapping[str, str]) -> str:
    """What the second is for; none when both are for the same, so that neither hides the other."""
    slot = tool({"tool": values["second"]})
    return "" if slot == first_of_two(values) else slot


_HEAD: Final = Regex(
    r" (?:for|instead|rather|over|not|as|in|on|to|because|since|with|and|when)\b|[,，、。]"
)
_LATIN_HEAD: Final = Regex(r"[\x21-\x7e][\x20-\x7e]*(?=\s?[\u4e00-\u9fff])")
_TO_USE: Final = Regex(
    r"^(?:to |on |for |that )?(?:we |all )*(?:use|using|go with|going with|adopt|adopting"
    r"|switch to|move to|run|stick with)?\b ?"
)


def _leading(named: str) -> tuple[str, ...]:
    """The first word and the first two words, as tool names."""
    words = re.findall(r"[\w.+#-]*[\w+#]", named)
    return (" ".join(words[:2]), words[0]) if words else ()


def known_tool(text: str) -> bool:
    """True when a word or a pair of words of `text` is a tool or a programming language of the tables."""
    words = re.findall(r"[\w+#-]*[\w+#]", text.lower())
    named = (text.lower(), *words, *(" ".join(pair) for pair in pairwise(words)))
    return any(one in _TOOL_OF or one in _LANGUAGES for one in named)


_LANGUAGES: Final = frozenset(
    word for word, domain in _DOMAIN_OF.items() if domain == "programming language"
) - {"go", "swift"}


def conduct(values: Mapping[str, str]) -> str:
    """The slot of a rule of conduct where only one can hold (the language, the length …), else none."""
    rule = values["rule"].lower()
    for pattern, slot in _RULE_OF:
        if pattern.search(rule):
            return slot
    return ""


WORKED_OUT: Final[Mapping[str, Callable[[Mapping[str, str]], str]]] = {
    "@preference": preference,
    "@taste": taste,
    "@favourite": favourite,
    "@tool": tool,
    "@conduct": conduct,
    "@choice": choice,
    "@topic": topic,
    "@support": support,
    "@product": product,
    "@dropped": dropped,
    "@first": first_of_two,
    "@second": second_of_two,
}


_NARROWED: Final = frozenset(
    ("@preference", "@choice", "@conduct", "@tool", "@product", "@dropped", "@first", "@second")
)
_IMPLIED: Final = frozenset(
    (
        "web framework (backend)", "web framework (api)", "user interface framework (frontend)",
        "user interface framework (web)", "web server (web)", "styling (frontend)", "bundler (frontend)",
        "state management (frontend)", "wiki (docs)",
    )
)  # fmt: skip
"""Parts that a slot is about anyway."""
_OCCASIONS: Final = _table(
    """
    morning: mornings | breakfast | 早上 | 早晨 | 上午 | 早餐
    noon: lunch | midday | 中午 | 午餐
    afternoon: afternoons | 下午
    evening: evenings | dinner | night | nights | tonight | bedtime | 晚上 | 夜里 | 晚餐 | 睡前
    weekend: weekends | 周末
    weekday: weekdays | 工作日
    summer: 夏天
    winter: 冬天
    spring: 春天
    autumn: fall | 秋天
    work: the office | 上班 | 在公司
    home: 在家
    travel: trips | flights | a flight | holiday | vacation | 出差 | 旅行
    meetings: meeting | 开会 | 会议
    emails: email | e-mail | e-mails | 邮件
    reviews: review | code review | code reviews | pull requests | 代码评审
    """
)
_PARTS: Final = _table(
    """
    backend: back end | back-end | 后端
    frontend: front end | front-end | 前端
    api: 接口
    docs: documentation | 文档
    mobile: 移动端 | 手机端
    ios: 苹果端
    android: 安卓端
    desktop: 桌面端
    client side: client-side | 客户端
    server side: server-side | 服务端
    staging: 预发环境 | 测试环境
    production: prod | 生产环境 | 线上
    development: dev | 开发环境 | 本地
    """
)


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_LATIN_OCCASIONS: Final = [w for w in (*_OCCASIONS, *_OCCASIONS.values()) if w.isascii()]
_LATIN_PARTS: Final = [w for w in (*_PARTS, *_PARTS.values()) if w.isascii()]
_OCCASION: Final = Regex(
    r"\b(?:in|at|on|for|during|before|after|with|over) (?:the |my |our )?(?:early |late )?"
    rf"({_any_of(_LATIN_OCCASIONS)})\b"
    rf"|({_any_of(w for w in _OCCASIONS if not w.isascii())})"
)
_PART: Final = Regex(
    rf"\b({_any_of(_LATIN_PARTS)})\b(?! (?:framework|server))"
    rf"|({_any_of(w for w in _PARTS if not w.isascii())})"
)
_OF_A_KIND: Final = Regex(
    r"\b(?!(?:the|an?|our|my|its|this|that|these|those|all|every|each|any|for|in|on|of|to|as|with|new|from|by|at|into"
    r"|use|uses|using|run|runs|one|whole|entire|same|own|main|current|other|web|package|issue"
    r"|message|job) )([a-z][\w-]*)(?:'s)? "
    r"(service|app|site|portal|dashboard|module|package|repo|project|cluster|worker|client)s?\b"
    r"(?! (?:manager|framework))"
    r"|(?:^|[,，]|我们的?|给|为|把|[在的])((?!我们|现在|目前|前端|后端|[这那该本整各每]|所有)[\u4e00-\u9fff]{1,6}?(?:服务(?![端器])|站点|网站|模块|仓库|系统|平台"
    r"|小程序))"
)


def narrowed(slot: str, clause: str) -> str:
    """`slot` of the part or occasion that `clause` names: what holds there hides nothing elsewhere.

    "Tests of the backend" and "tests of the frontend" are two slots, and so are a drink in the
    morning and one in the evening.
    """
    if not slot or slot.startswith("preferred time"):
        return slot
    text = clause.lower()
    found = {_PARTS.get(one, one) for one in _named(_PART, text)}
    found |= {_OCCASIONS.get(one, one) for one in _named(_OCCASION, text)}
    kinds = (" ".join(filter(None, match.groups())) for match in _OF_A_KIND.finditer(text))
    found |= {one for one in kinds if not known_tool(one)}  # "a React app" is no part of anything
    parts = [
        one
        for one in sorted(found)
        if f"{slot} ({one})" not in _IMPLIED
        and not any(one in other for other in (slot, *(found - {one})))
    ]
    return f"{slot} ({', '.join(parts)})" if parts else slot


def _named(pattern: Regex, text: str) -> list[str]:
    return [match[1] or match[2] for match in pattern.finditer(text)]


_SAME: Final = _table(
    """
    wife: 老婆 | 妻子 | 太太 | 媳妇
    husband: 老公 | 丈夫 | 先生
    mother: 妈妈 | 妈 | 母亲 | mom | mum
    father: 爸爸 | 爸 | 父亲 | dad
    son: 儿子
    daughter: 女儿
    child: 孩子 | 小孩 | kid | kids | children
    girlfriend: 女朋友 | 女友
    boyfriend: 男朋友 | 男友
    cat: 猫 | 猫咪
    dog: 狗 | 狗狗
    release: 发布 | 发版 | 上线 | launch
    deadline: 截止
    delivery: 交付
    blood type: 血型
    height: 身高
    zodiac sign: 星座 | star sign
    time zone: 时区 | timezone
    editor: 编辑器 | main editor | preferred editor | default editor | go-to editor
    main language: 主力语言 | main programming language | preferred language | primary language
    phone: 手机
    computer: 电脑 | laptop
    car: 车
    budget: 预算
    """
)


def same(word: str) -> str:
    """One word for what both languages, or one of them twice, have a word for (老婆, "mum")."""
    return _SAME.get(word, word)


def fill(template: str, values: Mapping[str, str], clause: str = "") -> str:
    """The slot of `template` for these values, lower case, of the part that `clause` speaks of."""
    worked_out = WORKED_OUT.get(template)
    if worked_out is not None:
        found = worked_out(values)
        return narrowed(found, clause) if template in _NARROWED else found
    return key(template.format_map({name: same(key(value)) for name, value in values.items()}))


def name(slot: str, subject: str, *, chinese: bool) -> str:
    """What a memory of this slot is called, in the language of the person's words."""
    whole, _, parts = slot.removesuffix(")").partition(" (")
    narrow = "、".join(map(_in_chinese, parts.split(", "))) if parts else ""
    shown = slot if not chinese else _chinese_name(whole) + (f"（{narrow}）" if narrow else "")
    if subject in ("user", "project", "assistant"):
        return shown
    return f"{subject}：{shown}" if chinese else f"{subject.capitalize()}: {shown}"


def _chinese_name(slot: str) -> str:
    if slot in CHINESE_NAMES:
        return CHINESE_NAMES[slot]
    for head, shown in _CHINESE_HEADS:
        if slot.startswith(head):
            return _apart(shown.format(_in_chinese(slot.removeprefix(head))))
    return _in_chinese(slot)


def _apart(text: str) -> str:
    """`text` with a blank between Chinese and Latin letters."""
    return _SEAM.sub(" ", text)


_SEAM: Final = Regex(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])")


def _in_chinese(word: str) -> str:
    """The first Chinese word of the tables for an English one of a slot, else `word`."""
    tables = (*_FAVOURITES.items(), *_SAME.items(), *_OCCASIONS.items(), *_PARTS.items())
    return next((said for said, meant in tables if meant == word and not said.isascii()), word)

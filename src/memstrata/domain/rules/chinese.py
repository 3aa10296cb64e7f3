"""How Chinese is read: what is passed over, where clauses end, how values are taken."""

from __future__ import annotations

import re
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.rules import slots
from memstrata.domain.rules.chinese_rules import KIN, REMEMBERED, RULES, WHEN
from memstrata.domain.rules.reading import Check, Language

_OTHER: Final = Regex(
    r"(?:吗|么|呢|来着|没有呀|对不对|是不是|好不好|行不行|可不可以|能不能|会不会|要不要|有没有"
        r"|是否|怎么样|如何)[？?]?$|^(?:那|所以|请问|话说)?(?:怎么|为什么|为啥|什么|哪|谁|几|多少"
        r"|如何|是不是|能不能|可不可以|有没有|会不会|要不要|该不该|是否|请问|咋)"
    r"|(?:什么|怎么|哪里|哪儿|哪个|哪些|多少|为什么|为啥|还是.{1,12}[？?])"
    r"|^(?:如果|假如|假设|假使|要是|倘若|万一|想象|想像|设想|比如说?|例如|譬如|若是|若|哪怕|即使"
        r"|除非)|就好了$|(?:的话[，,])"
    r"|真棒呢|真是太(?:棒|好)了呢|呵呵|我就喜欢.{2,16}(?:挂|崩|坏|加班|报错|堵车)",
)  # fmt: skip
_CLAUSE: Final = Regex(r"[，,]\s*|\s[–—-]+\s|——|：(?=我)")
_LEAD: Final = Regex(
    r"(?:你好|您好|嗨|哈喽|早上?好?|晚上好|下午好|大家好|好的|好|嗯+|哦+|噢|对了|对|是的|没错"
    r"|其实|另外|还有|顺便说一?[下句]|顺便|话说|补充一下|补充|说明一下|更新一下|更新|不过|但是?"
    r"|而且|所以|因为|反正|总之|首先|其次|最后|然后|目前|哈哈+|谢谢|感谢|唉|啊|哎|诶|坦白说"
    r"|老实说|说实话|说真的|一般来说|总的来说|自我介绍一下|介绍一下|背景是?|背景信息|告诉你"
    r"|跟你说|和你说|提醒一下|注意|备注)[，,:：!！~～ 、]+"
    r"|(?:其实|另外|还有|顺便说一下|对了|不过|但是|但|而且|因为|所以|毕竟|只是|可是|而|并且|同时"
    r"|然后)(?=我|我们|咱们)"
    r"|(?P<hedge>(?:我觉得|我想|我猜|感觉|好像|也许|可能|大概|应该|或许)[，,]?)(?=我)"
    r"|(?P<remember>(?:请|麻烦|帮我|你要|你|一定要|千万|给我|务必)*(?:记住|记一下|记得|别忘了"
    r"|记下来?|牢记|帮我记|备忘|记着)(?:一下|哦|了|下来)?(?:这个|这一点"
    r"|这点)?[，,:：！!\s]*(?:就是|的是)?)"
    r"|请|麻烦你?|结尾也?(?=不用|不要|别)"
    rf"|(?P<when>{WHEN}(?:开始|起)[，,]?)(?=我们|我)"
)
_MUTE: Final = Regex(
    r"^(?:如果|假如|要是|等我|当我|除非)|(?:可能|也许|或许|说不定|没准|大概会|应该会|恐怕)|要是"
    r"|如果|假如|假设|希望我?能|真想|好想|恨不得|报错|异常|堆栈|Error|error|Exception|^(?!给我"
    r"|你|帮我|跟我|回答|写|解释|改|生成|输出|展示|贴).*的时候$|有没有|是否|怎么|为什么|什么"
    r"|哪[个里些儿]|帮我(?!.*(?:的时候|时$))(?:写|改|做|看|查|找|算|生成|翻译|修|加|画|列|整理"
    r"|推荐|想|分析|优化|润色|检查|给|把|订|设)"
)
_POLITE: Final = Regex(
    r"^(?:你|请)?(?:能不能|可以|可不可以|能)(?:请)?(?:你)?(?:以后|每次|一直|始终|记住|别再|不要再|都用)"
)
_STOP: Final = Regex(
    r"(?:(?<!我)(?<!我想)(?:说|说过|表示|认为|觉得|告诉我|跟我说|提到|写道|声称|据说|听说"
    r"|写着)(?:[：:，,“\"]|我|他|她|应该|要|不|自己|这|在)|(?:他|她|他们|老板|文章|书|客户|同事"
    r"|朋友|医生|网上|有人|人家|别人|领导|博客|评论|文档|网友)(?:里|中|上)?(?:都|也|总)?(?:说"
    r"|觉得|认为|建议|写|让|要求|跟我说|告诉我)|^(?:他|她|他们|她们|它)(?!们?负责))"
)
_HANDED: Final = Regex(
    r"(?:翻译|润色|改写|续写|总结|概括|校对|修改|仿写|扩写|缩写|分析)(?:一下|下|成"
    r"|为)?.{0,12}(?:这|下面|以下|如下|上面|文|话|段|句|邮件|简历)|把.{1,16}(?:翻译|改写|改成"
    r"|润色|译)(?:成|为)?|(?:写|编|讲|生成|创作|起草|来)(?:一?[个篇封首段份则条]"
    r"|几个?).{0,16}(?:故事|小说|诗|歌|邮件|信|文章|作文|对话|剧本|文案|简历|自我介绍|演讲稿"
    r"|稿子|日记|推文|朋友圈|评论|介绍|句子|例子|例句)"
    r"|第一人称|扮演|角色扮演|假装|你现在是|你是一[个名位]|以.{1,10}的(?:口吻|身份|语气)|模仿"
)
_HEDGE: Final = Regex(
    r"(?:也许|可能|或许|大概|好像|不确定|不太确定|应该是|似乎|说不准|我猜|不一定)"
)
_REASON: Final = Regex(r"(?:因为|由于|原因是|理由是)(?P<why>[^。；]{2,100})")

_TAIL: Final = Regex(
    r"(?:因为|由于|但是?|不过|所以|[—–(（]).*$|(?:了|啦|啊|呀|呢|吧|哦|哈|嘛|的说|而已|就行"
    r"|就好)+$|(?<!味)(?<!色)的$"
)
_SOFT: Final = Regex(r"(?:啦|啊|呀|呢|吧|哦|哈|嘛|哈哈+|就行|~)+$|[（(].*$")
_VAGUE: Final = Regex(
    r"^(?:你|您|他|她|它|这|那|上面|下面|以上|以下|其中|哪|什么|怎么|一切|所有|现在|今天|昨天"
    r"|明天|自己这|谁|不|的|上|在这|第[一二三四五六七八九十\d]+|刚才|到|过|就|很|也)|你"
    r"|这[个种样么次些里部本首家件款版条]|那[个种样么次些里部本首家件款版条]|刚才|上面|怎么|什么"
    r"|这$|的感觉$|的时候"
)
_NOT_NAME: Final = Regex(
    r"^(?:什么|一下|的|了|在|是|不|没|有|这|那|它|他|她|你|我|自己|大家|人|谁|还|要|就|去|来|做"
    r"|专人|团队|后端|前端|运维|公司|系统|程序|代码)|[的了着过吗呢吧啊]$"
)
_NOT_TOOL: Final = Regex(
    r"^(?:你|他|她|它|这|那|一下|什么|不|吗|的|了|过|了吗)|你|吃|饭|旅游|电影|聚餐|团建|出去|回家|孩子|房子"
)
_TECH: Final = Regex(
    r"[A-Za-z]{2,}|\d|组件|接口|分支|仓库|代码|测试|部署|提交|评审|命名|缩进|空格|制表符|容器"
    r"|服务|数据库|缓存|依赖|版本|发布|上线|日志|文档|函数|变量|类型|注释|字段|下划线|驼峰|框架"
    r"|微服务|单体|主干|钩子|异步|队列|环境|配置|密钥|权限|时间戳|时区|时间|错误码|国际化|样式"
    r"|主题|图标|合并|发版|周[一二三四五]|规范|语言|需求|迭代|站会|分页|加密|协议|格式|单位|精度"
    r"|索引|事务|灰度|回滚|监控|告警"
)


def _technical(text: str) -> bool:
    return _TECH.search(text) is not None or slots.known_tool(text)


def _town(text: str) -> bool:
    return not slots.known_tool(text) and not slots.known_choice(text)


def _same(text: str) -> str:
    return text


def _turned(text: str) -> str:
    """Chinese leaves the first person out: 我 at the head of a value says nothing more."""
    return re.sub(r"^(?:我们?|咱们?)(?=[^的])", "", text)


CHINESE: Final = Language(
    chinese=True,
    rules=RULES,
    remembered=REMEMBERED,
    other=_OTHER,
    clause=_CLAUSE,
    lead=_LEAD,
    mute=_MUTE,
    polite=_POLITE,
    stop=_STOP,
    handed=_HANDED,
    carry=(
        Regex(rf"我(?!的|们|家|{KIN})"),
        Regex(r"(?!我|你|您|他|她|它|这|那|咱|大家|不过|但|如果|请|别|不要|叫|名字|[A-Za-z])"),
        "我",
    ),
    hedge=_HEDGE,
    reason=_REASON,
    checks={
        "thing": Check(40, _TAIL, _VAGUE),
        "other": Check(30, _TAIL, _VAGUE),
        "kind": Check(12, None, _VAGUE),
        "food": Check(12, _TAIL, _VAGUE),
        "scene": Check(
            10, None, Regex(r"[我你他她的了]|^(?:其实|一般|通常|说|但|不过|所以|因为|如果)")
        ),
        "name": Check(20, _TAIL, _NOT_NAME),
        "owner": Check(20, None, _NOT_NAME),
        "org": Check(30, _TAIL, _NOT_NAME),
        "place": Check(
            24,
            _TAIL,
            Regex(
                r"^(?:的|了|在|是|不|一起|酒店|哪|里|外|下|上(?!海|饶|虞)"
                r"|新(?:家|房|工位|办公|楼|公司|地方|小区|座|的|环境|平台|架构))|[的了着过]$"
                r"|(?:工位|办公[室楼区]|座位|位置|[楼层栋]|部门?|小?组|团队|会议室|机房|服务器|平台|集群"
                r"|仓库|分支|机器|环境|框架|架构|群里?|频道)$"
            ),
            _town,
        ),
        "job": Check(24, None, Regex(r"^(?:不|没|你|他|她)|[的了]")),
        "languages": Check(40, _TAIL, None),
        "date": Check(40, _TAIL, None),
        "rest": Check(120, _SOFT, None),
        "rule": Check(150, _SOFT, None),
        "event": Check(120, _SOFT, Regex(r"报错|失败|bug|Bug|BUG|挂了|崩了|不了|怎么|什么")),
        "plan": Check(120, _SOFT, None),
        "fact": Check(150, _SOFT, None),
        "tool": Check(100, _SOFT, _NOT_TOOL, _technical),
        "choice": Check(20, _TAIL, Regex("[这那你]"), slots.known_choice),
        "topic": Check(12, None, None, slots.known_topic),
        "what": Check(40, None, Regex(r"^(?:这|那|我的?$|你)|[我你他她]")),
        "where": Check(150, None, None),
    },
    turned=_turned,
    persons={"feedback": str},
    verb=_same,
    straight=_same,
)

"""What people say in Chinese and what it tells: the table, first match wins."""

from __future__ import annotations

from typing import Final

from memstrata.domain.rules.rule import ABSOLUTE, CORE, HEALTH, MILESTONE, Rule, Says, rule

_ADV: Final = (
    r"(?:现在|目前|一直|已经|平时|平常|其实|真的|也|都|还|就|是|又|从小就?|最近|刚刚?|特别|非常"
    r"|超级?|很|最|挺|比较|更|主要|本来|本身|个人|确实|可|尤其|实在|真|蛮|有点|刚好|正好|正在|正"
    r"|在|通常|一般|总是|经常|常常|基本上?)*"
)
_I: Final = r"(?:我|本人|俺)"
_WE: Final = r"(?:我们|咱们|咱|我们团队|我们组|团队|大家)"
_SURNAME: Final = (
    "[王李张刘陈杨黄赵吴周徐孙马朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程苏魏吕"
    "丁任沈姚卢姜崔钟谭陆汪范石廖贾韦夏付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃"
    "武戴莫孔向汤温阮]|欧阳|司马|上官|诸葛"
)
_CITY: Final = (
    r"(?:北京|上海|广州|深圳|天津|重庆|成都|杭州|南京|武汉|西安|苏州|郑州|长沙|沈阳|青岛|宁波"
    r"|东莞|无锡|佛山|合肥|大连|福州|厦门|哈尔滨|济南|温州|南宁|长春|泉州|石家庄|贵阳|南昌|金华"
    r"|常州|南通|嘉兴|太原|徐州|惠州|珠海|中山|台州|烟台|兰州|绍兴|海口"
    r"|扬州|昆明|乌鲁木齐|呼和浩特|银川|西宁|拉萨|三亚|桂林|香港|澳门|台北|高雄|新加坡|东京|大阪"
    r"|首尔|曼谷|伦敦|巴黎|柏林|慕尼黑|纽约|旧金山|洛杉矶|西雅图|波士顿|多伦多|温哥华|悉尼"
    r"|墨尔本|[\u4e00-\u9fff]{1,4}[市省县镇])"
)
WHEN: Final = (
    r"(?:[上下这本]+个?(?:周末|周[一二三四五六日天]?|星期[一二三四五六日天]?"
    r"|礼拜[一二三四五六日天]?|月(?:[\d一二三四五六七八九十]+[号日])?)|周[一二三四五六日天]"
    r"|星期[一二三四五六日天]|周末|大?前天|昨天|昨晚|今天|今早|今晚|明天|明早|明晚|大?后天"
    r"|(?:去年|前年|今年|明年)(?:的?[\d一二三四五六七八九十]+月(?:份"
    r"|[\d一二三四五六七八九十]+[日号])?)?|年底|月底|[\d一二三四五六七八九十两]+个?(?:天|周|星期"
    r"|月|年)之?[前后]|(?:\d{4}年)?[\d一二三四五六七八九十]+月(?:[\d一二三四五六七八九十]+[日号]"
    r"|份)?|\d{4}-\d\d-\d\d)"
    r"(?:的?(?:早上|上午|中午|下午|晚上|凌晨|傍晚|春天|夏天|秋天|冬天|国庆|春节))?"
)
_V: Final = r"[^，,。;；：:！!？?]"
KIN: Final = (
    r"(?:爸爸?|妈妈?|父亲|母亲|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥?|姐姐?|弟弟?|妹妹?|老公|老婆"
    r"|丈夫|妻子|爱人|先生|太太|媳妇|对象|男朋友|女朋友|男友|女友|儿子|女儿"
    r"|孩子|小孩|表哥|表姐|表弟|表妹|堂哥|堂姐|堂弟|堂妹|叔叔|阿姨|舅舅|姑姑|姨妈|侄子|侄女"
    r"|外甥女?|孙子|孙女|岳父|岳母|公公|婆婆|双胞胎|室友|闺蜜|同事|老板|领导|导师|朋友|邻居"
    r"|前任)"
)
_ANIMAL: Final = (
    r"(?:猫|狗|猫咪|狗狗|小猫|小狗|金毛|柯基|柴犬|哈士奇|泰迪|布偶|橘猫|仓鼠|兔子|乌龟|鹦鹉|金鱼"
    r"|龙猫|蜥蜴|边牧|拉布拉多|英短|美短)"
)
_TRADE: Final = (
    r"(?:工程师|程序员|设计师|老师|教师|医生|护士|律师|会计|学生|教授|研究员|记者|编辑|作家|厨师"
    r"|司机|销售|产品经理|项目经理|经理|架构师|分析师|咨询师|顾问|翻译|摄影师|画家|音乐人|演员"
    r"|导演|警察|消防员"
    r"|公务员|药剂师|药师|护工|保安|店长|店主|老板|农民|工人|电工|木工|理发师|美容师|教练"
    r"|健身教练|心理咨询师|博主|主播|程序猿|码农|开发者?|(?:测试|运维|前端|后端)(?:开发|架构|研发)?"
    r"|运营|人事|财务|出纳"
    r"|讲师|博士后|实习生|自由职业者?|创业者|兽医"
    r"|牙医|建筑师|策划|文案|插画师|数据科学家|科学家|飞行员|空姐|空乘|导游|图书管理员|社工"
    r"|营养师|技术总监|总监|组长|主管|负责人|合伙人|创始人|全职妈妈|全职太太|研究生|本科生"
    r"|大学生|高中生|初中生|博士生|硕士生)"
)
_PLACE: Final = (
    r"(?P<place>(?!这|那|哪|你|他|她|一|家|公司|外面|学校|宿舍|医院"
    r"|酒店)[\u4e00-\u9fffA-Za-z·]{2,12}?)"
)
_ENDS: Final = (
    r"(?=了?(?:$|[，,。！!、；;]|已经|工作|上班|生活|租|这边|那边|附近|呢|啊|的|啦|吧|住))"
)
_ILLNESS: Final = (
    r"(?:高血压|低血压|高血脂|糖尿病|哮喘|偏头痛|鼻炎|胃炎|胃病|痛风|抑郁症?|焦虑症?|失眠|颈椎病"
    r"|腰椎间盘突出|腰肌劳损|甲减|甲亢|贫血|癫痫|关节炎|湿疹|荨麻疹|心脏病|多动症|自闭症"
    r"|阅读障碍|脂肪肝|乙肝|肾结石|近视|散光|色盲|色弱"
    r"|听力障碍|耳鸣|睡眠呼吸暂停|乳糖不耐受?|麸质不耐受?|蚕豆病|过敏性鼻炎|慢性\w{1,4}"
    r"|强直性脊柱炎|红斑狼疮|干眼症|飞蚊症|幽闭恐惧症|恐高)"
)
_LANG: Final = (
    r"(?:中文|英语|英文|日语|日文|法语|德语|西班牙语|粤语|普通话|韩语|俄语|意大利语|葡萄牙语"
    r"|阿拉伯语|泰语|闽南语|上海话|四川话|客家话|越南语|手语|荷兰语|瑞典语)"
)
_URL: Final = r"(?:https?://[^\s，。；]+|www\.[^\s，。；]+)"
_PATH: Final = (
    r"(?:[\w.@~-]*/[\w./@~-]+|[\w-]+\.(?:md|rst|txt|pdf|docx?|xlsx?|ya?ml|toml|json|csv))"
)
_SYSTEM: Final = (
    r"(?:(?:飞书|语雀|石墨|腾讯文档|Notion|Confluence|钉钉|企业微信|Wiki|wiki|Figma|Jira|GitLab"
    r"|GitHub|网盘|百度云|坚果云|共享盘|内网|云盘|蓝湖|禅道|Grafana)[^，。；,;]{0,20})"
)
_MATERIAL: Final = (
    r"(?:手册|文档|说明|规范|指南|设计稿|原型|看板|面板|排期表?|日程|值班表|路线图|模板|清单"
    r"|记录|纪要|录屏|录像|代码|仓库|wiki|Wiki|地址|入口|链接|表格|报表|素材|日志|监控|备份"
    r"|发票|照片|文件|图纸|报告|数据集?|接口文档|README|配置|资料|笔记|菜谱|账本|幻灯片|PPT|合同|FAQ)"
)
_PROJECT: Final = (
    r"(?:(?:我们|咱们|这个|本|该|整个|公司)?(?:的)?(?:项目|仓库|代码库|代码|工程|团队|服务|后端"
    r"|前端|接口|组件|数据库|线上|生产环境|测试环境|预发环境|服务端|客户端|官网|小程序|系统|平台"
    r"|应用|分支|提交|镜像|样式|状态管理|日志|字段|变量|配置|时间|日期|金额|错误码|图标|文案"
    r"|单元测试|测试|部署|发布|构建|API|PR|CI))"
)
_HABIT_VERB: Final = (
    r"(?:上课|出海|用|喝|吃|跑步|跑|起床|睡觉|睡|健身|游泳|骑车|坐|走路|看|听|读|写|练|做饭|做瑜伽|冥想|打"
    r"|开车|上班|下班|遛狗|背单词|记账|点|买|穿|去|散步|加班|午睡|喂|弹|拉)"
)
_EVENT_VERB: Final = (
    r"(?:去|看|参加|买|见|吃|跑|搬|换|做|拿|得|赢|输|收到|完成|学|考|开|办|装|修|丢|摔|生|结婚"
    r"|离婚|订婚|升职|辞职|离职|入职|毕业|出差|旅游|旅行|体检|手术|住院|出院|搬家|面试|回|到|飞"
    r"|爬|骑|游|参观|拜访|陪|带|请|送|领|养|种"
    r"|报名|报了|订|签|发布|上线|退休|搞定|打|跟|和|把|从|给|过|聚|演出|表演|比赛|献血|拔|补"
    r"|打疫苗|拍|听|读完|写完|通过|加入|开始|相亲|认识|分手|感冒|发烧|住|坐|玩|滑)"
)

_CONDUCT: Final[tuple[Rule, ...]] = (
    rule(
        r"(?:现在|以后|你|又|可以)*(?P<topic>(?:[\u4e00-\u9fff]{0,2}表情(?:符号|包)?|[Ee]moji))(?:你?现在|你?以后|你|又|也|都)*"
        r"(?:可以|能|随便)(?:再|继续)?用了?$",
        Says("feedback", "@topic", "不再限制{topic}", subject="assistant", change="ends"),
        need="表情|moji",
    ),
    rule(
        r"(?:现在|以后|你|又)*(?:可以|能)(?:再|继续)?用(?P<topic>(?:表情(?:符号|包)?|[Ee]moji))了$",
        Says("feedback", "@topic", "不再限制{topic}", subject="assistant", change="ends"),
        need="表情|moji",
    ),
    rule(
        r"(?:忘掉|忘了|别管|取消|作废)(?:我)?(?:之前|以前|刚才|上次)?(?:说的?|提的?)?(?:关于|有关)?"
        r"(?P<topic>[\u4e00-\u9fffA-Za-z]{2,8}?)(?:的)?(?:要求|规则|规定|事|话|限制)$",
        Says("feedback", "@topic", "不再限制{topic}", subject="assistant", change="ends"),
        need="忘掉|忘了|别管|取消|作废",
    ),
    rule(
        r"(?P<rule>(?:.{2,14}(?:情况下|之前|前|时))?(?:永远|绝对?|任何时候都?|无论如何都?"
        r"|千万)(?:都)?(?:不要|不许|不准|不能|不可以?|别|要|用|得)[^我]?(?!.*(?:除非|尽量)).+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.9, priority=ABSOLUTE),
        need="永远|绝|任何时候|无论如何|千万",
    ),
    rule(
        r"(?:(?:从今以后|从现在起|从现在开始|从今天起|今后|以后|往后|之后"
        r"|接下来)(?:的话)?[，,]?\s*)(?:你|请你?|麻烦你?|我希望你|咱们?|跟我|和我|给我"
        r"|我们)?(?P<rule>(?!(?:我|你觉得|会|再说|可能|打算|想|有机会|有空|有时间|再|见|呢|慢慢|怎么"
        r"|就好|他|她))(?:.*(?:回答|回复|说话|聊天|解释|代码|提交|注释|写|用|叫|称呼|不要|别|都|先"
        r"|只|必须|一律|直接|给|每次|简短|简洁|请|跟|对)).*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.9),
        need="以后|从现在|今后|往后|从今|之后|接下来",
    ),
    rule(
        r"(?:请|你|麻烦)?(?P<rule>(?:每次|每回|每当|凡是|只要)(?!我|都要$|都$).{2,}(?:都|先|要|必须"
        r"|别|不要|再|就|记得|请).*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.8),
        need="每次|每回|每当|凡是|只要",
    ),
    rule(
        r"(?P<rule>(?:给我|你|帮我|跟我|回答|写|解释|改|生成|输出|展示|贴)[^，,]{0,14}(?:的时候"
        r"|时)[，,]\s?(?:请|你)?[^，,]*(?:一律|都|要|请|别|不要|先|用|必须|只|记得)[^，,]*)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.8),
        need="时",
        wide=True,
    ),
    rule(
        r"(?:你|请)?(?P<rule>(?:.{1,16}之?前[，,]?(?:请|一定要|都要|要|必须|务必|得)?先(?:问|跟|和"
        r"|征得|告诉|确认|给我|列|说|让|备份|跑|看|通知)).*)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.8),
        need="前先|前请先|前一定要先|前要先|前都要先|前务必先|前必须先|前，先|前得先",
    ),
    rule(
        r"(?:请|你|麻烦你?)?(?P<rule>先(?:给|说|讲|写|放|列|上)(?:出|个)?(?:我)?(?:结论|答案|结果"
        r"|代码|要点|重点|总结|方案|思路|摘要)(?:[，,]\s?(?:再|然后|后)[^，,]+)?[^，,]*)",
        Says("feedback", "answer order", "{rule}", subject="assistant", confidence=0.85),
        need="先",
        wide=True,
    ),
    rule(
        r"(?:请|你|麻烦你?|能不能|可以)?(?P<rule>(?:所有|你的|全部|平时)?(?:的)?(?:回答|回复|答案"
        r"|解释|说明|总结|回复我|回答我|跟我说话|和我说话|说话|讲解)(?:的时候|时|问题时|问题"
        r"|内容)?(?:请|要|都|尽量|必须|一定要|一律|得|可以|能|里|里面|中)?(?!了|是|得很|我的|一下"
        r"|这个|下面|你|上面|对不对|不对|错)(?:不要|别|用|先|简短|简洁|精简|短|详细|直接|温柔|严肃"
        r"|口语|分点|只|保持|控制|带上|附上|尽量|多|少|加|简单|要).*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.85),
        need="回答|回复|答案|解释|说明|总结|说话|讲解",
    ),
    rule(
        rf"(?:请|你|麻烦你?)?(?:都|一律|统一|只)?(?P<rule>(?:一律|统一|都|只|全部|始终|一直"
        rf"|总是)?用(?:简体|繁体)?{_LANG}(?:来)?(?:回答|回复|写|跟我说|和我说|交流|沟通|解释|说)(?:我"
        rf"|就行|就好|吧|即可)?$)",
        Says("feedback", "answer language", "{rule}", subject="assistant", confidence=0.75),
        need="用",
    ),
    rule(
        r"(?:请|你|麻烦你?|能不能)?(?P<rule>(?:不要|别|不许|少|请勿|不用|不必)(?:再|老是?|总是?"
        r"|动不动就|随便|擅自|给我|跟我|每次都?|一直|在|往|把)?(?!用?这|这么说|那么说|担心|急|客气"
        r"|闹|逗|开玩笑|生气|想太多|管|理|忘)(?=.*(?:注释|注解|类型标注|前言|开场白|道歉|表情|emoji"
        r"|客套|废话|啰嗦|术语|英文"
        r"|中文|总结|重复|提问|反问|建议|主分支|main|依赖|格式|列表|加粗|markdown|Markdown|解释"
        r"|感叹号|生产|线上|提交|推送|鼓励|安慰|说教|夸|奉承|鸡汤|敬语|称呼|分号|拼音|全局变量"
        r"|改我的|未经|没问|先斩后奏|猜|编造|瞎编|省略|剧透|密码|您)).+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.75),
        need="不要|别|不许|少|请勿|不用|不必",
    ),
    rule(
        r"(?:请|你|麻烦你?|你就|大家都|可以|你可以)?(?P<rule>(?:叫|称呼|喊)我(?P<name>(?!名字|起床"
        r"|什么|去|来|做|吃)[\u4e00-\u9fffA-Za-z·]{1,8}?)(?:就行|就好|吧|即可|就可以了?|就成"
        r"|好了)?)$",
        Says("feedback", "form of address", "称呼用户为{name}", subject="assistant", confidence=0.8),
        need="叫我|称呼我|喊我",
    ),
    rule(
        r"(?P<rule>(?:提交信息|提交说明|commit ?(?:信息|message)|注释|变量名|函数名|文档|日志"
        r"|代码注释|PR ?描述|分支名|测试用例?|标题|类名|文件名|命名|变量|函数)(?:要|请|都|必须|一律|统一|全部|得|用|写"
        r"|里|中|不要|不用|别|不许|不能|不准|禁止|请勿|尽量)+.*(?:中文|英文|拼音|用|写|加|带|命名|格式|以|不|缩写|大写|小写|下划线|驼峰).*)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.75),
    ),
    rule(
        rf"(?P<rule>{_I}(?:不喜欢|讨厌|不希望|受不了|希望|喜欢|想要?|更喜欢|最烦)你(?!的|这|那|们|刚"
        rf"|写的|现在|帮|能|可以|给我写).+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.75),
        need="你",
    ),
    rule(
        r"(?:你|请你?)(?P<rule>(?:必须|务必|应该|一定要|得|要|应当)(?:始终|总是|每次|一直|永远|都|先"
        r"|用|只|在).*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.7),
    ),
)  # fmt: skip

_NOT_ANY_MORE: Final = r"(?:已经|现在|其实|早就|早|并|也|都|再)*(?:不再|不会再|不会|不|没有|没)"
_MOVED: Final = (
    r"(?P<tail>(?:上个?月|去年|今年|前年|刚刚?|最近|上周|这个月|已经|昨天|今天|前天|\d+月"
    r"|[一二三四五六七八九十]+月份?|年初|年底)*)(?:从[\u4e00-\u9fff]{2,8}?)?"
    rf"(?:搬到了?|搬去了?|搬来了?|搬回了?|移居到?了?|定居在?了?){_PLACE}{_ENDS}"
)

_IDENTITY: Final[tuple[Rule, ...]] = (
    rule(
        r"(?P<food>[\u4e00-\u9fffA-Za-z]{1,8}?)我(?:从来|一点都?|都|是|完全)*"
        r"(?P<no>不能|不|从不)(?P<act>吃|喝|碰)(?:的|了)?$",
        Says("user", "consumes {food}", "{no}{act}{food}", confidence=0.8, priority=CORE),
        need="吃|喝|碰",
    ),
    rule(
        rf"{_I}(?:在家里?|家里|从小|平时|小时候|都|一直)+(?:说|讲)(?P<languages>{_LANG}{_V}*)",
        Says("user", "languages", "从小说{languages}", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"{_I}的?血型是?\s?(?P<thing>(?:AB|A|B|O)\s?型?)",
        Says("user", "blood type", "血型是{thing}", confidence=0.9, priority=CORE),
        need="血型",
    ),
    rule(
        rf"(?:{_I}的?(?:名字|全名|本名|中文名|大名)(?:是|叫)|{_I}(?:名)?叫做?"
        rf"|{_I}姓名是)\s?(?P<name>(?!什么|啥|他|她|你|它|人|车|外卖|不"
        rf"|了)[\u4e00-\u9fffA-Za-z·]{{2,8}}(?: [A-Z][a-z]+)?)$",
        Says("user", "name", "名字是{name}", confidence=0.9, priority=CORE),
        need="叫|名字|名",
    ),
    rule(
        rf"{_I}(?:就)?是(?P<name>(?:{_SURNAME})(?!.*(?:[生人师员者家手民工的方党控族粉迷女男兵匠]"
        r"|老板|经理)$)[\u4e00-\u9fff]{1,2})$",
        Says("user", "name", "名字是{name}", confidence=0.65, priority=CORE),
    ),
    rule(
        r"(?:(?:大家|朋友们?|同事们?|别人|家人)都?(?:叫|喊)我)(?P<name>[\u4e00-\u9fffA-Za-z·]{1,8})$",
        Says("user", "form of address", "别人叫{name}", confidence=0.8, priority=CORE),
        need="叫我|喊我",
    ),
    rule(
        rf"{_I}(?:已经|早就|现在|都)*(?:不在|不再在|没在)(?P<org>{_V}{{2,16}}?)(?:工作|上班|干|做)(?:了)?",
        Says("user", "employer", "不再在{org}工作", change="ends", priority=CORE),
        need="不在|不再|没在",
    ),
    rule(
        rf"(?:{_I}|{_I}已经|{_I}刚)?(?:从)(?P<org>{_V}{{2,16}}?)(?:离职|辞职|跳槽|退休|毕业离职)(?:了|出来)?",
        Says("user", "employer", "从{org}离职", change="ends", priority=CORE),
        need="离职|辞职|跳槽|退休",
    ),
    rule(
        rf"(?:{_I}|今天|明天|下周一?|我今天)?{_ADV}(?:开始|正式)*(?:在|入职了?|加入了?|去了?"
        rf"|跳槽到了?|进了)(?P<org>(?!这|那|哪|家|外面|北京$"
        rf"|上海$)[\u4e00-\u9fffA-Za-z0-9·]{{2,16}}?)(?:当|做|任"
        rf"|担任)(?:了?一?[名个位])?(?P<job>[\u4e00-\u9fffA-Za-z]{{0,8}}?{_TRADE})",
        Says("user", "job", "在{org}当{job}", confidence=0.85, priority=CORE),
        Says("user", "employer", "在{org}工作", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"{_I}{_ADV}(?:人)?在(?P<city>{_CITY})(?:上班|工作|打工)$",
        Says("user", "place of work", "在{city}工作", confidence=0.85, priority=CORE),
        need="上班|工作|打工",
    ),
    rule(
        rf"{_I}{_ADV}在(?P<org>[\u4e00-\u9fffA-Za-z0-9·]{{1,12}}(?:科技|公司|物流|集团|医院|银行|学校"
        rf"|大学|中学|小学|咨询|网络|传媒|证券|保险|工厂|厂|设计院|研究所|事务所|书店|餐厅|酒店"
        rf"|出版社|电力|地产|软件|航空|幼儿园|诊所|工作室|超市))(?:做|当|任"
        rf"|负责|教)(?P<role>[\u4e00-\u9fffA-Za-z]{{1,10}})$",
        Says("user", "employer", "在{org}做{role}", confidence=0.85, priority=CORE),
        need="在",
    ),
    rule(
        rf"{_I}上(?P<rest>夜班|白班|早班|晚班|中班|三班倒|倒班|大小周|两班倒)",
        Says("user", "working arrangement", "上{rest}", confidence=0.8),
        need="班|大小周",
    ),
    rule(
        rf"{_I}(?:的)?(?P<lang>{_LANG})(?P<rest>(?:水平)?(?:说得|讲得)?(?:还可以|还行|很好|挺好|一般"
        rf"|很一般|不错|流利|很流利|比较流利|不太好|不好|很差|就不行|不行|过了?[四六八]级|[四六八]级"
        rf"|[Nn][12345]|凑合|母语水平).*)",
        Says("user", "skill in {lang}", "{lang}{rest}", confidence=0.8),
    ),
    rule(
        rf"(?:{_I})?{_ADV}(?:{WHEN}|现在|下周|上周)*(?:开始|正式|刚|起|就)*(?:在"
        rf"|于)(?P<org>(?!{_CITY}|这|那|哪|你|他|她|家里?|外面|线上|远程|公司|单位|国企$"
        rf"|外企$)[\u4e00-\u9fffA-Za-z0-9·]{{2,16}}?)(?:上班|工作|就职|任职|供职|实习|打工)(?!量|流"
        rf"|区|日|台|经验|的时候|时)",
        Says("user", "employer", "在{org}工作", confidence=0.85, priority=CORE),
        need="上班|工作|就职|任职|供职|实习|打工",
    ),
    rule(
        rf"(?:{_I})?{_ADV}(?:今天|昨天|上周|上个月|这个月|去年|今年)*(?:入职了?|加入了|跳槽到了?"
        rf"|跳槽去了)(?P<org>(?!这|那|哪|你|一)[\u4e00-\u9fffA-Za-z0-9·]{{2,16}}?)(?=了?(?:$"
        rf"|[，,。]))",
        Says("user", "employer", "入职{org}", confidence=0.8, priority=CORE),
        need="入职|加入|跳槽",
    ),
    rule(
        rf"{_I}{_ADV}(?:是|做|当|从事|干)(?:的是|的)?(?:一|个|一个|一名|一位|名|位|了)*(?P<job>(?!你"
        rf"|不|他|她|我|老师好|想)[\u4e00-\u9fffA-Za-z+#]{{0,10}}?{_TRADE})(?=(?:$|[，,。、！!]|的$"
        rf"|工作|出身|已经|了|，|兼|和))",
        Says("user", "job", "是{job}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"{_I}的?(?:职业|工作|本职|岗位)是(?P<job>{_V}{{2,16}})",
        Says("user", "job", "职业是{job}", confidence=0.85, priority=CORE),
        need="职业|工作|本职|岗位",
    ),
    rule(
        rf"{_I}{_ADV}(?:从事|做|搞)(?P<field>(?!什么|不|你|的)[\u4e00-\u9fffA-Za-z]{{2,10}}?)(?:行业"
        rf"|方面的?工作|工作|这一?行|领域)",
        Says("user", "field of work", "从事{field}", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"{_I}{_ADV}(?P<rest>(?:退休了?|失业了?|待业|自由职业|全职带娃|远程办公|居家办公|在家办公"
        rf"|读(?:博士?|研究?生?|硕士?|大[一二三四]|高[一二三]|本科|初[一二三])|上(?:大[一二三四]"
        rf"|高[一二三]|初[一二三]|小学|大学|研一|研二|研三)))",
        Says("user", "", "{rest}", confidence=0.75, priority=CORE),
    ),
    rule(
        rf"{_I}(?:在|于)(?P<school>[\u4e00-\u9fffA-Za-z]{{2,12}}?(?:大学|学院|中学|高中|小学"
        rf"|理工))(?P<rest>(?:读|学|念|上)[\u4e00-\u9fffA-Za-z]{{1,10}})",
        Says("user", "studies", "在{school}{rest}", confidence=0.85, priority=CORE),
        need="大学|学院|中学|高中|小学|理工",
    ),
    rule(
        rf"{_I}(?:大学|本科|研究生|硕士|博士)?(?:学|读)的?(?:专业)?是(?P<rest>[\u4e00-\u9fffA-Za-z]{{2,12}})",
        Says("user", "studies", "专业是{rest}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"(?:{_I}|我们家|我们?一家)?{_MOVED}",
        Says("user", "home", "{tail}搬到了{place}", confidence=0.85, priority=CORE),
        need="搬|移居|定居",
    ),
    rule(
        rf"我们{_MOVED}",
        Says("user", "home", "{tail}搬到了{place}", confidence=0.85, priority=CORE),
        need="搬|移居|定居",
        alone=True,
    ),
    rule(
        rf"{_I}(?:已经|早就|现在|都)*(?:不住|不再住)在?{_PLACE}了",
        Says("user", "home", "不再住在{place}", change="ends", confidence=0.85, priority=CORE),
        need="不住|不再住",
    ),
    rule(
        rf"(?:{_I}|我们家?|我家)?{_ADV}(?:住在?|家在|定居在?|常驻|家住|长期住在){_PLACE}{_ENDS}",
        Says("user", "home", "住在{place}", confidence=0.85, priority=CORE),
        need="住|家在|定居|常驻",
    ),
    rule(
        rf"(?:{_I}的?(?:老家|家乡|故乡|籍贯)(?:在|是)|{_I}{_ADV}(?:来自|出生在|出生于|生在|长在)"
        rf"|{_I}从小在){_PLACE}(?=$|[，,。的长]|人)",
        Says("user", "origin", "老家是{place}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"{_I}(?:从小|小时候)?(?:是)?在{_PLACE}(?:长大|出生|土生土长)",
        Says("user", "origin", "在{place}长大", confidence=0.85, priority=CORE),
        need="长大|出生|土生土长",
    ),
    rule(
        rf"{_I}是(?P<place>(?!个|一个|什么|哪|这|那|本地|男|女|好|坏|老|新|年轻|成年|普通|中国|外国"
        rf"|病|聪明|懒|笨|本)[\u4e00-\u9fff]{{2,6}})人(?:$|[，,。])",
        Says("user", "origin", "是{place}人", confidence=0.8, priority=CORE),
        need="人",
    ),
    rule(
        rf"{_I}{_ADV}(?:会说?|能说|讲|懂|说)(?:一点儿?|点儿?|流利的|一些)?(?P<languages>{_LANG}{_V}*)",
        Says("user", "languages", "会说{languages}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"{_I}的?母语是(?P<languages>{_LANG})",
        Says("user", "native language", "母语是{languages}", confidence=0.9, priority=CORE),
        need="母语",
    ),
    rule(
        rf"{_I}的?(?:生日|出生日期)(?:是|在)?(?P<date>(?:农历|阴历|阳历)?{_V}*[月]{_V}*)",
        Says("user", "birthday", "生日是{date}", confidence=0.9, priority=CORE),
        need="生日|出生日期",
    ),
    rule(
        rf"{_I}(?:是|出生于?|生于)(?P<date>(?:19"
        rf"|20)?\d{{2}}年(?:\d{{1,2}}月(?:\d{{1,2}}[日号])?)?)(?:出生|的|生)?",
        Says("user", "birthday", "生于{date}", confidence=0.8, priority=CORE),
        need="年",
    ),
    rule(
        rf"{_I}(?:今年|现在|已经|都|刚满|快)*(?P<age>\d{{1,2}}|[一二三四五六七八九]?十[一二三四五六七八九]?)岁",
        Says("user", "age", "{age}岁", confidence=0.8, priority=CORE),
        need="岁",
    ),
    rule(
        rf"(?:{_I}{_ADV})?对(?P<thing>{_V}{{1,16}}?){_NOT_ANY_MORE}过敏",
        Says("user", "allergy to {thing}", "对{thing}不过敏", change="ends", priority=HEALTH),
        need="过敏",
    ),
    rule(
        rf"{_I}(?:现在|已经|其实)*(?P<thing>[\u4e00-\u9fff]{{1,6}}?){_NOT_ANY_MORE}过敏了?$",
        Says("user", "allergy to {thing}", "对{thing}不过敏", change="ends", priority=HEALTH),
        need="过敏",
    ),
    rule(
        rf"{_I}{_ADV}对(?P<thing>{_V}{{1,16}}?)(?:严重|轻微|重度|轻度)?过敏",
        Says("user", "allergy to {thing}", "对{thing}过敏", confidence=0.95, priority=HEALTH),
        need="过敏",
    ),
    rule(
        rf"{_I}(?P<thing>[\u4e00-\u9fff]{{1,6}})过敏$",
        Says("user", "allergy to {thing}", "{thing}过敏", confidence=0.85, priority=HEALTH),
        need="过敏",
    ),
    rule(
        rf"{_I}{_ADV}(?P<rest>(?:全|纯|长期)?(?:吃素|吃斋|素食(?:者|主义者?)?|纯素|只吃清真|吃清真"
        rf"|信佛吃素|不吃肉|生酮饮食|低碳饮食))",
        Says("user", "diet", "{rest}", confidence=0.9, priority=HEALTH),
        need="素|斋|清真|不吃肉|饮食",
    ),
    rule(
        rf"{_I}(?P<when2>(?:去年|前年|今年|上个?月|最近|小时候|从小|刚)*)(?:一直|长期|就|被|确实"
        rf"|也)*(?:查出了?|得了|患有?|确诊(?:了|为)?|诊断(?:出|为)了?|有|是)(?:轻度|重度|严重的?"
        rf"|遗传性?|先天性?|点|一点)*(?P<thing>{_ILLNESS})",
        Says("user", "health: {thing}", "{when2}有{thing}", confidence=0.9, priority=HEALTH),
        Says("user", "health: {thing}", "有{thing}", confidence=0.9, priority=HEALTH),
        either=True,
    ),
    rule(
        rf"{_I}{_ADV}(?P<thing>(?:{_ILLNESS}))(?:$|，|,|患者|挺严重|很多年|好多年)",
        Says("user", "health: {thing}", "{thing}", confidence=0.85, priority=HEALTH),
    ),
    rule(
        rf"{_I}(?:怀孕|备孕)(?P<tail>{_V}*)",
        Says("user", "health: pregnancy", "怀孕{tail}", confidence=0.75, priority=HEALTH),
        need="怀孕|备孕",
    ),
    rule(
        rf"{_I}(?:现在|已经|早就|从来|一直|都|平时|基本|从)*(?P<no>不|不再|戒了|不能|不太"
        rf"|很少)(?P<act>吃|喝|抽)(?P<food>(?!饭|药|早饭|了|到|上|下|惯|得|完"
        rf"|不)[\u4e00-\u9fffA-Za-z]{{1,8}}?)(?:了|的)?$",
        Says("user", "consumes {food}", "{no}{act}{food}", confidence=0.8, priority=CORE),
        need="吃|喝|抽",
    ),
    rule(
        rf"{_I}(?:已经|刚|去年|今年|终于)*(?P<rest>戒(?:烟|酒|糖|咖啡|奶茶)){_V}*",
        Says("user", "", "{rest}了", confidence=0.8, priority=CORE),
        need="戒",
    ),
)  # fmt: skip

_PEOPLE: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?:我|我们|我家)的?(?P<rel>(?:大|小|二)?{KIN}|{_ANIMAL})的?(?:名字)?(?:叫做?"
        rf"|名叫)(?P<name>(?!什么|啥|我|你|他|她|人|车)[\u4e00-\u9fffA-Za-z·]{{1,6}})$",
        Says("user", "name of {rel}", "{rel}叫{name}", confidence=0.9, priority=CORE),
        need="叫",
    ),
    rule(
        rf"(?:我|我们|我家|家里)(?:最近|刚|今年|去年|也)*(?:养了?|有|领养了?"
        rf"|收养了?)(?P<many>[一两二三四五六七八九十\d]+[只条个匹])"
        rf"(?P<pet>[\u4e00-\u9fff]{{0,4}}?{_ANIMAL})(?:[，,]?\s?(?:名字)?(?:叫|名叫|它叫"
        rf"|取名)(?P<name>[\u4e00-\u9fffA-Za-z]{{1,6}}))?",
        Says("user", "name of {pet}", "养了{many}{pet}，叫{name}", confidence=0.9, priority=CORE),
        Says("user", "pet {pet}", "养了{many}{pet}", confidence=0.85, priority=CORE),
        need="养|有",
        either=True,
        wide=True,
    ),
    rule(
        r"(?:我|我们|我家|家里)(?:现在|已经)?有(?P<many>[一两二三四五六七八九十\d]+个)(?P<who>孩子"
        r"|小孩|娃|儿子|女儿|哥哥|姐姐|弟弟|妹妹|宝宝|双胞胎)",
        Says("user", "family: {who}", "有{many}{who}", confidence=0.85, priority=CORE),
        need="有",
    ),
    rule(
        rf"我的?(?P<rel>(?:大|小|二)?{KIN})(?:现在|一直|目前)*住在?{_PLACE}{_ENDS}",
        Says("user", "home", "{rel}住在{place}", subject="{rel}", confidence=0.85),
        need="住",
    ),
    rule(
        rf"我的?(?P<rel>(?:大|小|二)?{KIN})(?:今年|现在|已经|刚满|快)*(?P<age>\d{{1,2}}"
        rf"|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一两二三四五六七八九])岁",
        Says("user", "age", "{rel}{age}岁", subject="{rel}", confidence=0.8),
        need="岁",
    ),
    rule(
        rf"我的?(?P<rel>(?:大|小|二)?{KIN})(?P<rest>(?:现在|目前|一直)*(?:在{_V}{{2,12}}?(?:做|当|任"
        rf"|读|上)|在{_V}{{2,12}}?(?=工作|上班)|是一?[名个位]?)(?:[\u4e00-\u9fff]{{0,6}}?(?:{_TRADE})"
        rf"|书|博士?|研|大学"
        rf"|小学|工作|上班){_V}*)",
        Says("user", "job", "{rel}{rest}", subject="{rel}", confidence=0.8),
    ),
    rule(
        rf"我的?(?P<rel>(?:大|小|二)?{KIN})(?P<rest>(?:特别|非常|很|最|也|一直|从小)*(?:喜欢|爱|讨厌"
        rf"|不喜欢|不吃|不能吃|怕|对{_V}{{1,8}}过敏|有{_ILLNESS})(?!我|你|这|那){_V}{{1,30}})",
        Says("user", "", "{rel}{rest}", subject="{rel}", confidence=0.75),
        Says("user", "", "{rel}{rest}", subject="{rel}", confidence=0.75),
        either=True,
    ),
    rule(
        rf"我的?(?P<rel>(?:大|小|二)?{KIN})"
        rf"(?P<rest>[\u4e00-\u9fff]{{0,3}}?(?:对{_V}{{1,8}}过敏|有?{_ILLNESS}|吃素|吃全素))",
        Says("user", "", "{rel}{rest}", subject="{rel}", confidence=0.85, priority=HEALTH),
    ),
    rule(
        rf"{_I}(?:已经|还|目前|现在|是)*(?P<rest>已婚|未婚|单身|离异|离婚了|结婚了"
        rf"|结婚[一二两三四五六七八九十\d]+年了?|订婚了)(?=$|[，,。])",
        Says("user", "marital status", "{rest}", confidence=0.8, priority=CORE),
    ),
)  # fmt: skip

_LIKINGS: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?:比起|跟|和|与|相比于?)(?P<other>{_V}{{1,16}}?)(?:相比|比|来说"
        rf"|比起来)?[，,]?\s?{_I}(?:还是|其实|个人)*(?:更|比较)(?:喜欢|爱|偏好|偏爱|倾向于?"
        rf"|习惯)(?:喝|吃|用)?(?P<thing>{_V}{{1,20}})",
        Says("user", "@preference", "比起{other}更喜欢{thing}", confidence=0.9),
        need="更|比较",
    ),
    rule(
        rf"{_I}(?:个人|现在|如今|目前)*(?:更|比较|还是)(?:喜欢|爱|偏好|偏爱|倾向于?|习惯)(?:喝|吃"
        rf"|用)?(?P<thing>{_V}{{1,20}}?)(?:[，,]?(?:而不是|胜过|多过|不是|多于)"
        rf"|超过)(?P<other>{_V}{{1,16}})",
        Says("user", "@preference", "比起{other}更喜欢{thing}", confidence=0.9),
        need="更|比较|还是",
    ),
    rule(
        rf"{_I}(?:喜欢|爱)(?P<thing>{_V}{{1,12}}?)(?:胜过|多过|多于|超过)(?P<other>{_V}{{1,12}})",
        Says("user", "@preference", "比起{other}更喜欢{thing}", confidence=0.85),
        need="胜过|多过|多于|超过",
    ),
    rule(
        rf"(?P<scene>[\u4e00-\u9fff]{{2,8}}?)?[，,]?{_I}(?:个人|一般|通常|还是|一直|都|现在|如今|目前)*(?:更|比较"
        rf"|最)?(?:偏好|偏爱|更喜欢|更爱|倾向于|宁愿|宁可|比较喜欢)(?:喝|吃|用|坐"
        rf"|选)?(?P<thing>{_V}{{1,20}})",
        Says("user", "@preference", "{scene}偏好{thing}", confidence=0.85),
        Says("user", "@preference", "偏好{thing}", confidence=0.85),
        need="偏好|偏爱|更喜欢|更爱|倾向于|宁愿|宁可|比较喜欢",
        either=True,
    ),
    rule(
        rf"{_I}(?:一直以来)?最(?:喜欢|爱|钟爱)的(?P<kind>{_V}{{1,8}}?)(?:一直|就"
        rf"|应该)*是(?P<thing>{_V}{{1,24}})",
        Says("user", "@favourite", "最喜欢的{kind}是{thing}", confidence=0.9),
        need="最",
    ),
    rule(
        rf"(?P<thing>{_V}{{1,16}}?)(?:一直)?是我最(?:喜欢|爱|钟爱)的(?P<kind>{_V}{{1,8}})",
        Says("user", "@favourite", "最喜欢的{kind}是{thing}", confidence=0.85),
        need="是我最",
    ),
    rule(
        rf"{_I}{_ADV}(?:不喜欢|不爱|讨厌|不太喜欢|受不了|不怎么喜欢|反感|很烦|最烦|最怕|不能忍"
        rf"|接受不了|不感兴趣的是)(?P<thing>{_V}{{1,24}})",
        Says("user", "@taste", "不喜欢{thing}", confidence=0.8),
    ),
    rule(
        rf"{_I}{_ADV}对(?P<thing>{_V}{{1,16}}?)(?:很|非常|特别|一直|比较|超)*(?:感兴趣|有兴趣|着迷|上瘾)",
        Says("user", "@taste", "对{thing}感兴趣", confidence=0.75),
        need="兴趣|着迷|上瘾",
    ),
    rule(
        rf"{_I}{_ADV}(?:喜欢|爱|热爱|钟爱|酷爱|迷上了?|爱上了?|痴迷于?)(?!的|过|死|你|他"
        rf"|她)(?P<thing>{_V}{{1,24}})",
        Says("user", "@taste", "喜欢{thing}", confidence=0.75),
    ),
    rule(
        rf"{_I}的(?:兴趣)?爱好(?:就)?(?:是|有|包括)(?P<thing>{_V}{{1,30}})",
        Says("user", "", "爱好是{thing}", confidence=0.85),
        need="爱好",
    ),
)  # fmt: skip

_HABITS: Final[tuple[Rule, ...]] = (
    rule(
        rf"{_I}(?:的[\u4e00-\u9fff]{{2,4}})?(?:现在|最近|已经|刚刚?|都|后来|从{_V}{{1,16}}?)*(?:改用|换用|换成|换到|转用|转到|改成|切换到"
        rf"|迁到)了?\s?(?P<choice>{_V}+)",
        Says("user", "@choice", "改用{choice}", confidence=0.85),
        need="改用|换用|换成|换到|转用|转到|改成|切换到|迁到",
    ),
    rule(
        rf"{_I}现在(?:都|只|主要|一直)*(?:使用|用)的?(?:是)?\s?(?P<choice>{_V}+)",
        Says("user", "@choice", "现在用{choice}", confidence=0.8),
        need="现在",
    ),
    rule(
        rf"{_I}(?:现在|平时|自己)*(?P<rest>(?:开|骑|有)(?:的是)?(?:一|两)?(?:辆|台|部|架){_V}{{2,16}})",
        Says("user", "", "{rest}", confidence=0.7),
        need="辆|台|部|架",
    ),
    rule(
        rf"{_I}{_ADV}(?:在)?(?P<rest>(?:攒钱|存钱)(?:买|去|准备|想|，)?{_V}*"
        r"|(?:备考|备战|准备考)[\u4e00-\u9fffA-Za-z]{1,12})",
        Says("user", "", "在{rest}", confidence=0.7),
        need="攒钱|存钱|备考|备战|准备考",
    ),
    rule(
        rf"{_I}(?P<rest>从小(?:就)?会{_V}{{1,8}})$",
        Says("user", "", "{rest}", confidence=0.75),
        need="从小",
    ),
    rule(
        rf"{_I}(?P<rest>(?:最近|刚|上周|上个月|刚刚|这个月)*(?:报了|报名了|参加了|加入了|办了)个?(?:一个)?"
        rf"{_V}{{1,10}}?(?:班|课|课程|健身卡|俱乐部|社团|兴趣小组|合唱团|乐队|球队))$",
        Says("user", "", "{rest}", confidence=0.75),
        need="报了|报名|参加了|加入了|办了",
    ),
    rule(
        rf"{_I}(?P<rest>(?:喝|吃)(?:咖啡|茶|奶茶|豆浆|面|火锅|米线|饭|菜|粥|沙拉|牛排|鸡蛋"
        rf"|水)(?:的时候)?(?:从来|一定|都|只|一般)*(?:不加|不放|要加|只加|加|不要|不吃|要|只吃|只喝"
        rf"|放){_V}*)",
        Says("user", "", "{rest}", confidence=0.8),
        need="喝|吃",
    ),
    rule(
        rf"{_I}(?P<rest>(?:平时|平常|通常|一般|总是|经常|常常|习惯|基本上?|每天|每周|每个?(?:周末"
        rf"|早上|晚上|月|星期|礼拜)|每(?:周|星期)[一二三四五六日天]|周末|天天|每晚|每早)(?:都|会|在"
        rf"|也|早上|晚上|中午|下午|凌晨|大概|要|只|固定|[\d一二三四五六七八九十两]+点半?|睡前|饭后"
        rf"|起床后?|先|坚持|周末)*{_HABIT_VERB}{_V}*)",
        Says("user", "", "{rest}", confidence=0.75),
    ),
    rule(
        rf"{_I}(?P<rest>(?:从小)?(?:学|练|弹|打|拉|跑|写|画|玩|做|教|骑){_V}{{1,10}}?(?:已经)?(?:学"
        rf"|练|弹|打|拉|跑|写|画|玩|做|教|骑)?了(?:快|将近|有"
        rf"|大概)?[\d一二三四五六七八九十两几]+个?(?:多)?年了?(?:多)?{_V}*)",
        Says("user", "", "{rest}", confidence=0.8),
        need="年",
    ),
    rule(
        rf"{_I}{_ADV}(?P<rest>(?:会|能)(?:弹|拉|打|吹|游泳|开车|滑雪|做饭|画画|编程|写|修)(?!不会"
        rf"|吗){_V}{{0,12}})$",
        Says("user", "", "{rest}", confidence=0.75),
    ),
    rule(
        rf"{_I}{_ADV}(?P<rest>(?:学|自学|准备考|备考|备战|练习)(?:习|着)?(?!了一?下|会了|到|不会|校"
        rf"|生|这|那|你)[\u4e00-\u9fffA-Za-z]{{1,12}})(?=$|[，,。])",
        Says("user", "", "在{rest}", confidence=0.65),
    ),
    rule(
        rf"{_I}(?:今年|最大|长期|明年|现在|人生)*的?(?:目标|梦想|愿望|计划|理想)是(?P<rest>{_V}{{2,40}})",
        Says("user", "goal", "目标是{rest}", confidence=0.75),
        need="目标|梦想|愿望|计划|理想",
    ),
    rule(
        rf"{_I}(?:是)?(?:个|一个|一枚)?(?P<rest>左撇子|夜猫子|早起的人|内向的人|社恐|吃货|路痴|强迫症"
        rf"|完美主义者?|球迷|书虫|猫奴|数码控|独生子女?|新手(?:爸爸|妈妈)|单亲(?:爸爸|妈妈)"
        rf"|(?:[IE][NS][TF][JP]))",
        Says("user", "", "是{rest}", confidence=0.75),
    ),
    rule(
        rf"{_I}有(?P<rest>(?:[\d一二三四五六七八九十两]+年(?:多)?的?{_V}{{0,12}}经验))",
        Says("user", "", "有{rest}", confidence=0.8, priority=CORE),
        need="经验",
    ),
    rule(
        rf"{_I}的?(?P<what>血型|身高|星座|属相|生肖|时区|编辑器|主力语言|主力机|偶像|车|电脑|手机"
        rf"|口味|预算)是(?P<thing>{_V}{{1,20}})",
        Says("user", "{what}", "{what}是{thing}", confidence=0.75),
    ),
    rule(
        rf"{_I}(?:平时|主要|一直|日常|现在)*(?:主要)?(?P<rest>(?:写"
        rf"|用)(?P<tech>[A-Za-z+#.]{{1,16}}(?:(?:、|和|跟| )[A-Za-z+#.]{{1,16}})*)(?:写代码|开发|编程"
        rf"|做开发|比较多|为主|最多))",
        Says("user", "", "{rest}", confidence=0.75),
    ),
)  # fmt: skip

_PART: Final = rf"(?:{_PROJECT}|数据库|缓存|前端|后端|框架|包管理器?|构建工具|部署|消息队列)"
_WHOSE: Final = r"(?:(?!我|你|他|她|这|那|谁|它|家|公司)[\u4e00-\u9fffA-Za-z0-9-]{1,10}的)?"

_PROJECTS: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?P<rest>(?:新版本|下个版本|下一版|这个版本|版本|项目|产品|网站|小程序|第一版)?"
        rf"(?:定在|计划在|安排在|改到|推迟到|计划|预计)(?:{WHEN}){_V}*?"
        r"(?P<what>发布|上线|交付|发版|验收|内测|公测))",
        Says("project", "{what} date", "{rest}", subject="project", confidence=0.8, past=False),
        need="定在|计划|安排在|改到|推迟到|预计",
    ),
    rule(
        rf"(?P<rest>{_WHOSE}(?P<purpose>{_PART})?(?:已经|刚|上周"
        rf"|上个月|最近)*从\s?(?P<other>[\w.+# -]{{1,20}}?)\s?(?:换成了?|迁移到了?|迁到了?|切换到了?"
        rf"|切到了?|改成了?|升级到了?|改用了?|换到了?|转到了?)\s?(?P<tool>{_V}+))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.85),
        need="从",
    ),
    rule(
        rf"(?:{_WE}(?!的))?(?P<rest>(?:{_WHOSE}(?P<purpose>{_PART}))?(?:现在|已经|全部|最近|都|刚|上周|统一|以后|下周开始|今天起"
        rf"|现在都)*(?:改用|换成|换用|切换到|切到|迁移到|迁到|改为|改成|升级到)了?\s?(?P<tool>{_V}+))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.85),
        need="改用|换成|换用|切换到|切到|迁移到|迁到|改为|改成|升级到",
    ),
    rule(
        rf"(?:{_WE}{_PROJECT}|{_WE}|{_PROJECT})(?:已经|现在|从下个版本起|以后|正式|都)*(?P<no>不再|停止|放弃"
        rf"|不(?=.*了$))(?P<act>使用|用|依赖)了?(?P<tool>{_V}+?)了?$",
        Says("project", "support for {tool}", "{no}{act}{tool}", subject="project", confidence=0.8),
        Says("project", "@dropped", "{no}{act}{tool}", subject="project", change="ends"),
        need="不再|停止|放弃|不用|不使用|不依赖",
    ),
    rule(
        rf"(?:{_WE}{_PROJECT}|{_WE}|{_PROJECT})(?:已经|现在|从下个版本起|以后|正式|都)*(?P<no>不再|不|停止|放弃"
        rf"|弃用了?|去掉了?|下线了?)(?P<act>支持|使用|用|维护|兼容|写|提交|依赖|允许"
        rf"|接受)?了?(?:对)?(?P<tool>{_V}+?)(?:的支持|了)?$",
        Says("project", "support for {tool}", "{no}{act}{tool}", subject="project", confidence=0.8),
        need="不再|停止|放弃|弃用|去掉|下线|不支持|不用|不使用|不允许|不接受|不写",
    ),
    rule(
        rf"(?P<rest>(?:{_WE}|{_PROJECT}|这边|组里)(?:内部|已经|最后|最终|一致|开会|昨天|上周|讨论后"
        rf"|里|会上|都|一起|刚)*(?:决定|商定|约定|约好|定了|确定|选定|敲定|规定|要求|同意|统一)(?:了"
        rf"|好|下来|采用|使用|用|将|把|先|在|只)*(?P<tool>{_V}{{2,}}))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.85),
        need="决定|商定|约定|约好|定了|确定|选定|敲定|规定|要求|同意|统一",
    ),
    rule(
        rf"(?P<rest>{_PART}(?:{_V}{{0,8}}?)?(?:统一|一律|全部|都|必须|默认|只|强制|目前|现在|是"
        rf"|主要|需要|均)*(?P<verb>使用|采用|用|返回|写|走|放|遵循|部署在|部署到|跑在|托管在|基于"
        rf"|支持|依赖|要求|兼容|命名|以|按)(?!不了|户|途|法|力|一下|什么|这个"
        rf"|哪)(?P<tool>{_V}{{1,}}))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.8),
    ),
    rule(
        rf"(?P<rest>{_V}{{0,8}}?(?:最后|最终|最后还是|还是|已经)?(?:选了|选用了?|选定了?|选择了"
        rf"|敲定了?|定了用|定下来用)\s?(?P<tool>[A-Za-z]{_V}*))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.8),
        need="选|敲定|定了用|定下来用",
    ),
    rule(
        rf"(?:{_WE})(?P<rest>(?:的)?(?:所有|全部)?(?:的)?{_V}{{1,10}}?(?:都|统一|一律|全部|默认)(?:用"
        rf"|使用|存成?|写|走|返回|放在?|采用|是|按)\s?(?P<tool>{_V}+))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.8),
        need="都|统一|一律|全部|默认",
    ),
    rule(
        r"(?P<thing>(?!我|你|这|那|他|她)[\u4e00-\u9fffA-Za-z0-9]{2,10}?)(?:的|相关的?)?(?:事情?"
        r"|问题|问题都|需求)?(?:都|就|直接|可以|要)*(?:找|问|联系)(?P<owner>(?!我|你|谁|他|她|什么"
        r"|哪|不|到|了|题|个|一|人)[\u4e00-\u9fff]{2,3}|[A-Z][a-z]+)(?:就行|就好|即可)?$",
        Says("project", "owns {thing}", "{thing}找{owner}", subject="{owner}", confidence=0.7),
        need="找|问|联系",
    ),
    rule(
        rf"(?P<rest>{_WE}(?:项目|仓库|团队|组|公司|这边|后端|前端|内部)?(?:里|的)?(?:现在|目前|一直"
        rf"|统一|都|主要|默认|只|是|全部|平时|线上|以后)*(?P<verb>用|使用|采用|部署在|部署到|跑在"
        rf"|托管在|依赖|遵循|发版|上线|发布)(?!不了|户|途|法|力|一下|什么|这个|哪"
        rf"|的是什么)(?P<tool>{_V}{{1,}}))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.8),
    ),
    rule(
        r"(?P<thing>(?!我|你|这|那|他|她|今天|明天)[\u4e00-\u9fffA-Za-z0-9 /_-]{2,16}?)(?:现在"
        r"|目前|一直|以后|都|改)*(?:由|归|是)(?P<owner>(?!我|你|谁|他|她|什么"
        r"|哪)[\u4e00-\u9fff]{2,4}?|[A-Z][a-z]+)(?:负责|维护|管|跟进|主导|牵头|在管|接手)",
        Says("project", "owns {thing}", "{thing}由{owner}负责", subject="{owner}", confidence=0.85),
        need="负责|维护|管|跟进|主导|牵头|接手",
    ),
    rule(
        rf"(?P<owner>(?!我|你|谁|他|她|这|那|哪|请|由|主要|需要|没人|有人|目前|现在|专门|如何|怎么"
        rf"|为什么)[\u4e00-\u9fff]{{2,3}}?|[A-Z][a-z]+)(?:现在|目前|主要|一直|来)*(?:负责|维护|主管"
        rf"|牵头|接手了?)(?!人|任|的是谁|吗|制)(?P<thing>{_V}{{2,20}})",
        Says("project", "owns {thing}", "{owner}负责{thing}", subject="{owner}", confidence=0.8),
        need="负责|维护|主管|牵头|接手",
    ),
    rule(
        rf"(?P<rest>(?:代码|功能|版本|发布|合并|上线|需求)?(?:冻结|封版|封网"
        rf"|停更)(?:期)?(?:会)?(?:一直)?(?:持续)?(?:截止|直)?(?:到|至){_V}*(?:\d"
        rf"|[一二三四五六七八九十]|底|周|明|后){_V}*)",
        Says("project", "freeze", "{rest}", subject="project", confidence=0.85, past=False),
        need="冻结|封版|封网|停更",
    ),
    rule(
        rf"(?:我们|项目|下个版本|新版本|这个版本|版本|产品|第一版)?(?:的)?(?P<what>发布|上线|交付"
        rf"|截止|发版|验收|内测|公测)(?:日期|时间|日)?(?:定在|是|改[到为成]|推迟到|延[期后]?到|顺延到|提前到|调整[到为]|安排在|在"
        rf"|计划在)(?P<date>{_V}*(?:\d|[一二三四五六七八九十]月|底|下?周[一二三四五六日天]"
        rf"|下个?月){_V}*)",
        Says("project", "{what} date", "{what}日期是{date}", subject="project", confidence=0.8, past=False),
        need="定在|日期|时间|改到|推迟到|安排在|计划在",
    ),
    rule(
        r"(?P<rest>(?:所有|每个|每次|全部|任何)(?:的|新)?(?P<what>[\w/]{0,8}?\s?(?:PR|接口|组件|提交"
        r"|分支|函数|模块|服务|变更|发布|页面|表|字段|时间|金额|图片|测试|合并请求|代码|配置|密钥"
        r"|文案|请求|错误|日志|MR|API|端点))\s?(?:都|必须|一律|要|统一|得|至少|均|应|需要?)+.+)",
        Says("project", "", "{rest}", subject="project", confidence=0.8),
        need="所有|每个|每次|全部|任何",
    ),
)  # fmt: skip

_POINTERS: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?:我们的?|项目的?|所有的?|团队的?|全部的?)?(?P<what>(?!这|那|问题"
        rf"|报错)[\u4e00-\u9fffA-Za-z0-9 ]{{0,16}}?{_MATERIAL})(?:全|现在|目前|统一|一般|放|都|存|就"
        rf"|写|记录|保存|维护|托管|部署|挪|搬|的)*(?:在|到|是|见|位于|于|：|:)(?:了)?(?:这里|这儿"
        rf"|这个链接|这)?[：: ]*(?P<where>{_URL}|#[\w-]+|{_PATH}|{_SYSTEM})",
        Says("reference", "where is {what}", "{what}在 {where}", subject="project", confidence=0.85),
    ),
    rule(
        rf"(?P<where>{_URL})\s?(?:是|这里是|就是)(?:我们的?|项目的?"
        rf"|团队的?)?(?P<what>[\u4e00-\u9fffA-Za-z0-9 ]{{0,16}}?{_MATERIAL})",
        Says("reference", "where is {what}", "{what}在 {where}", subject="project", confidence=0.8),
        need="http|www",
    ),
)  # fmt: skip

_EVENTS: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?:{_I})?(?P<rest>从?(?:{WHEN})(?:就|还)?(?:(?:一直)?(?:到|至|[-–—~～]){_V}{{2,14}}?)?(?:都|会|要|在|准备|打算|请)*"
        rf"(?:休假|放假|请假|休年假|年假|度假|休产假|休陪产假|不在公司|不上班)(?!.*[了过]){_V}*)",
        Says("user", "", "{rest}", confidence=0.75, event=True, past=False),
        need="假|不在公司|不上班",
    ),
    rule(
        rf"(?:我们?)(?P<plan>(?:{WHEN}){_V}{{0,10}}?(?:约了|预约了|订了|定了|安排了|有个?|有一[个场次]){_V}+)",
        Says("episodic", "", "{plan}", confidence=0.75, event=True, past=False),
        need="约了|订了|定了|安排了|有",
    ),
    rule(
        rf"(?:我们?)(?P<event>(?:(?:和|跟|与)(?!你){_V}{{1,8}}?)?(?:{WHEN})?(?:刚刚?|终于|已经|正式|今天|最近|也)*(?:升职|晋升|结婚|离婚"
        rf"|订婚|毕业|退休|生了|生下|领证|拿到(?:了)?(?:驾照|offer|Offer|证书|学位)|考上了?|考过了?"
        rf"|通过了|买了(?:一?[套辆台])?(?:房|车|新房|新车)|领养了|跑完了|被裁|获得了?.{2}|得了第"
        rf"|赢了(?=.*(?:比赛|冠军|奖))|开了(?:一?家)|创办了|成立了)(?!吗|怎么|的话){_V}*)",
        Says("episodic", "", "{event}", confidence=0.8, priority=MILESTONE),
    ),
    rule(
        rf"(?P<who>我的?{KIN}|我家{_ANIMAL})(?P<event>(?:{WHEN})?(?:刚刚?|终于|已经)*(?:去世|过世"
        rf"|走了|出生|结婚|生了|毕业|考上|升职|住院|确诊)(?!吗|怎么){_V}*)",
        Says("episodic", "", "{who}{event}", confidence=0.8, priority=MILESTONE),
    ),
    rule(
        rf"(?:(?P<before>{WHEN})[，,]?(?:我们?)|(?:我们?)(?P<after>{WHEN}))(?P<plan>(?:就|还)?(?:要"
        rf"|打算|准备|计划|得|会|将|想)(?:去|飞|参加|出差|搬|结婚|考|做|面试|体检|见|飞往|回|开始|陪"
        rf"|带|看|动|交|办|出发|演出|表演|跑|旅游){_V}*)",
        Says("episodic", "", "{before}{plan}", confidence=0.75, event=True, past=False),
        Says("episodic", "", "{after}{plan}", confidence=0.75, event=True, past=False),
    ),
    rule(
        rf"(?:(?P<before>{WHEN})[，,]?(?:我们?)|(?:我们?)(?P<after>{WHEN}))(?P<event>(?:就|才|刚|又"
        rf"|终于|在{_V}{{1,10}}?|一个人|一起|都|已经|第一次|和{_V}{{1,8}}?|跟{_V}{{1,8}}?"
        rf"|带{_V}{{1,8}}?|陪{_V}{{1,8}}?)*{_EVENT_VERB}{_V}*)",
        Says("episodic", "", "{before}{event}", confidence=0.75, event=True),
        Says("episodic", "", "{after}{event}", confidence=0.75, event=True),
    ),
    rule(
        rf"(?:我们?)(?P<event>(?:{WHEN}){_V}{{1,16}}?(?:终于|已经|全都|顺利)?(?:{_V}{{1,6}}了|过了"
        rf"|考了|赢了|通过))$",
        Says("episodic", "", "{event}", confidence=0.7, event=True),
        need="了|通过",
    ),
    rule(
        rf"(?:我们?)(?P<plan>(?:{WHEN})(?:就|还|才)?{_EVENT_VERB}(?!.*[了过]){_V}*)",
        Says("episodic", "", "{plan}", confidence=0.7, event=True, past=False),
    ),
    rule(
        rf"(?P<event>(?P<lead>{WHEN})(?:刚|终于|又|第一次|一个人)*(?:去|参加|看|跑|爬|飞|体检|搬|回"
        rf"|拔|做|报名|见|陪|带){_V}*了{_V}*)",
        Says("episodic", "", "{event}", confidence=0.7, event=True),
    ),
    rule(
        rf"(?:我们?的?)?(?P<what>[\u4e00-\u9fff]{{0,8}}?(?:婚礼|考试|面试|手术|航班|答辩|演出|比赛"
        rf"|体检|会议|聚会|毕业典礼|演讲|生日会|复诊|预约|展览))(?:定在|是|在|安排在"
        rf"|改到)(?P<date>{WHEN}{_V}*)",
        Says("episodic", "", "{what}在{date}", confidence=0.75, event=True, past=False),
    ),
)  # fmt: skip

REMEMBERED: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?P<fact>.*{_URL}.*)",
        Says("reference", "", "{fact}", confidence=0.75),
        need="http|www",
    ),
    rule(
        r"(?:要|得|以后|每次)?(?P<rule>(?:要|别|不要|先|只|用|每次|一定|务必|必须).+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.7),
    ),
    rule(
        rf"(?P<fact>.*(?:{_WE}|项目|仓库|代码|部署|上线|线上|测试环境|生产环境|接口|数据库).*)",
        Says("project", "", "{fact}", subject="project", confidence=0.75),
    ),
    rule(
        r"(?:我)?(?P<fact>(?!一下|这个|这段|这些|这一点|上面|刚才|了|没|哦|吗|就好|就行).{3,})",
        Says("user", "", "{fact}", confidence=0.8),
    ),
)  # fmt: skip

RULES: Final[tuple[Rule, ...]] = (
    *_POINTERS,
    *_CONDUCT,
    *_IDENTITY,
    *_PEOPLE,
    *_LIKINGS,
    *_HABITS,
    *_PROJECTS,
    *_EVENTS,
)

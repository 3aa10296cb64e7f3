"""Words for people and for things, as far as a heading's owner is told by them. Data only."""

from __future__ import annotations

from typing import Final

PERSON: Final = frozenset(
    """user member teammate colleague coworker person people personal individual private my me mine
    own i his her him their your you owner author employee manager boss
    用户 用戶 使用者 个人 個人 私人 本人 成员 成員 同事 员工 員工 我 我的 你 你的 您 您的 他 他的 她 她的
    """.split()
)
"""Singular, case folded."""

OWN: Final = frozenset(
    "individual personal private my me mine own 个人 個人 私人 本人 我 我的".split()
)
"""Those that make notes a person's own."""

GIVEN_NAMES: Final = frozenset(
    """adam ahmed aisha alan alex alice alina amy ana andrea andrew anita anna anne anton aria arjun
    ben bianca boris brian bruno carla carlos carol chen chris clara claire dana daniel david diana
    diego dora elena eli elias ella emil emily emma eric erik eva fatima felix fiona frank gabriel
    george grace greta hana hannah hans helen henry hugo ian ines ingrid irene iris isabel ivan jack
    jacob james jana jane jan jens joan joe john jonas jorge jose joseph julia julian karen karl kate
    kevin kim kofi lars laura lea lena leo li liam lily lina linda lisa louis lucas lucia luis luna
    maria marie mario marta martin mary mateo maya mei mia michael miguel mila mina mira mohammed nadia
    nina noah nora olga oliver oscar pablo paul pedro peter petra philip priya rachel ravi robert rosa
    ruth sam sara sarah simon sofia sonia stefan sven tara theo thomas tim tom tomas vera victor wei
    yuki yusuf zoe""".split()
)
"""Common ones that are hardly ever a thing's name; a workspace's own people come as an argument."""

THINGS: Final = frozenset(
    """team group squad company project product system app application service server client api
    backend frontend infra infrastructure platform code coding editor ide tool tooling style ui ux
    design build deploy deployment setup install installation docs documentation language testing
    test default general engineering ci cd naming formatting meeting communication review database
    release repo repository library framework docker kubernetes linux windows macos python java
    javascript typescript rust go git github gitlab vim emacs slack jira customer vendor market
    environment cloud security privacy logging monitoring data analytics notification time zone
    团队 團隊 项目 專案 小组 公司 产品 產品 系统 系統 服务 服務 平台 代码 代碼 部署 构建 安装 安裝 测试 測試
    客户 客戶 编辑器 工具 文档 设计 接口 数据库 发布""".split()
)
"""What "X's preferences" or "preferences (X)" may be about without being a person's."""

"""What people say in English and what it tells: the table, first match wins."""

from __future__ import annotations

from typing import Final

from memstrata.domain.rules.rule import ABSOLUTE, CORE, HEALTH, MILESTONE, Rule, Says, rule
from memstrata.domain.rules.words import (
    CONDITION,
    DIET,
    DISABILITY,
    JOB,
    LANGUAGE,
    NAME,
    ORG,
    PAST,
    PETS,
    PLACE,
    PROPER,
    RELATIVE,
    TRAIT,
)

_AM: Final = r"(?:i'm|i am|im)"
_HAVE: Final = r"(?:i have|i've got|i've|i got|we have|we've got)"
_ADV: Final = (
    r"(?:(?:really|absolutely|truly|definitely|also|still|just|totally|actually|particularly"
    r"|especially|generally"
    r"|mostly|mainly|currently|now|both|personally|honestly|quite|simply|secretly|much|strongly|genuinely"
    r"|already|recently|finally|always|have always|do|only|even|very|pretty|so|presently|officially) )*"
)
_DROPPED: Final = "(?:stopped|dropped|quit|abandoned|got rid of|removed|deprecated|retired)"
_THING: Final = r"(?P<thing>.+)"
_MONTH: Final = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_FIELD: Final = (
    "finance|marketing|sales|hr|human resources|it|tech|education|healthcare|health care"
    "|logistics|insurance|publishing"
    "|advertising|hospitality|construction|manufacturing|real estate|law|banking|journalism|retail|agriculture"
    "|cybersecurity|customer support|customer service|public relations|research|film|television|fashion|biotech"
)
_TONGUE: Final = (
    "english|french|german|spanish|italian|portuguese|dutch|polish|russian|ukrainian|czech"
    "|swedish|norwegian|danish|finnish|greek|turkish"
    "|arabic|hebrew|hindi|chinese|mandarin|cantonese|japanese|korean|vietnamese|thai|catalan"
    "|latin|welsh|irish|hungarian|romanian|estonian"
)
_PROJECT: Final = (
    r"(?:project|repo|repository|codebase|code base|app|application|service|team|backend"
    r"|back end|front ?end|api|pipeline"
    r"|ci|site|website|monorepo|package|library|product|cluster|database|server|client|stack"
    r"|infrastructure|company"
    r"|build|schema|cli|sdk)"
)
_TEAM_VERB: Final = (
    r"use|using|run|running|deploy|deploying|build|building|host|hosting|target|support|require"
    r"|ship|release|store"
    r"|keep|write|test|format|lint|log|track|manage|follow|version|tag|review|merge|squash|name"
    r"|document|develop|rely"
    r"|put|generate|pin|rebase|prefix|cache|mock|commit|branch|stick"
)
_IMPERATIVE: Final = (
    "use|write|answer|reply|respond|explain|add|include|ask|push|commit|merge|run|test|check"
    "|put|show|give|keep|start"
    "|end|format|call|address|suggest|assume|delete|remove|touch|change|edit|modify|create|make"
    "|do|skip|avoid|mention"
    "|cite|quote|translate|speak|talk|tell|say|apologi[sz]e|repeat|summari[sz]e|list|number|prefer|wait|confirm"
    "|verify|double-check|deploy|install|log|rebase|squash|name|sign|send|schedule|book|order|recommend|round"
    "|convert|spell|let|be|try|follow|stick|leave|return|wrap|comment|document|paste|share"
    "|guess|invent|hardcode"
    "|stop|begin|offer|propose|proceed|refer|point|provide|ping|warn|consult|consider|propose"
    "|flag|pick|choose|think"
    "|read|look|open|close|print|indent|rename|refactor|update|upgrade|force-push|amend|save"
    "|store|treat|note|mark"
)
_PEP_TALK: Final = (
    r"(?:give (?:up|in)|say never|let (?:anyone|anything|it|them|go|fear|others)"
    r"|stop (?:believing|dreaming|learning|trying)|try to be|be afraid|be yourself|look back"
    r"|be (?!concise|brief|direct|honest|polite|formal|explicit|specific|critical|precise"
    r"|consistent)|(?:[\w-]+ ){1,2}(?:yourself|your (?:ego|self|dreams?|heart|family|health|head"
    r"|life|goals?|best|own|worth|mind|friends|loved ones))\b)"
)
_STYLE_GERUND: Final = (
    "apologi[sz]ing|using|adding|suggesting|repeating|asking|explaining|saying|calling|writing"
    "|including|starting"
    "|ending|putting|summari[sz]ing|giving|telling|offering|recommending|rewriting|padding|hedging|praising"
    "|complimenting|mentioning|inventing|making up|wrapping|commenting"
)
_ABOUT_ANSWERS: Final = (
    r"answers?|replies|reply|responses?|respond|explanations?|emojis?|exclamation|bullet|jargon"
    r"|apologi|comments?|commit"
    r"|tests?|summar|code blocks?|tone|language|small talk|disclaimers?|filler|flattery|preamble"
    r"|markdown|tables?|units"
    r"|examples?|questions|permission|pull requests?|main branch|to main|without asking|unless i"
    r"|passive voice|adverbs"
    r"|em[- ]dash|headings|headers|spoilers|type hints|semicolons|dependencies|secrets|production"
)
_EVENT: Final = (
    r"appointment|exam|interview|meeting|flight|wedding|surgery|trip|conference|presentation|concert|recital"
    r"|check-?up|operation|defen[cs]e|graduation|party|anniversary|marathon|race|tournament"
    r"|holiday|vacation|visit"
    r"|deadline|demo|talk|course|class|workshop|viewing|move|due date|game|match|show|exhibition"
    r"|hearing|audition"
    r"|performance|retreat|reunion|test|session|release|launch|train|birthday party|dinner|camp"
)
_COMING: Final = (
    r"going (?!to (?:try|explain|be|do|use|need|have|make|write|ask|tell|show|start|check|test"
    r"|work|give|say|send|take a|see|add|change|fix|look|get|keep|let|pay|say|call|talk|upload"
    r"|share|provide|put|assume|want)\b)|flying|travel(?:l)?ing|moving|visiting|getting|starting"
    r"|having|seeing|attending|taking|hosting|leaving|running"
    r"|meeting|celebrating|speaking|giving|heading|driving|competing|performing|presenting"
    r"|throwing|joining|marrying"
    r"|defending|retiring|launching|opening|graduating"
)
_URL: Final = r"(?:https?://\S+|www\.\S+)"
_PATH: Final = (
    r"(?:[\w.@~-]*/[\w./@~-]+|[\w-]+\.(?:md|rst|txt|pdf|docx?|xlsx?|ya?ml|toml|json|csv))"
)
_SYSTEM: Final = (
    r"(?:(?:the|our|my) )?(?:[\w-]+ ){0,3}(?:notion|confluence|google drive|sharepoint|wiki"
    r"|dropbox|figma|jira|linear|github|gitlab"
    r"|trello|airtable|obsidian|drive|slack|vault|1password|bitwarden|grafana|miro|shared folder"
    r"|binder|drawer)\b"
    r"(?: (?:page|board|channel|folder|space|repo|database|doc|document|called|named|under|in)\b.*)?"
)
_MATERIAL: Final = (
    r"(?:runbooks?|playbooks?|docs?|documentation|guides?|guidelines|specs?|specification|wiki"
    r"|handbook|dashboards?|board|backlog"
    r"|schedule|calendar|roadmap|style guide|mock-?ups|mocks|wireframes|designs|spreadsheet"
    r"|tracker|recordings?|notes"
    r"|minutes|checklist|templates?|reference|changelog|recipes?|repo|repository|source|slides"
    r"|deck|manual|map|portfolio"
    r"|website|blog|site|page|list|plan|budget|diagram|diagrams|adrs?|faq|policy|contract"
    r"|credentials|passwords|keys|staging"
    r"|sandbox|demo|logs|metrics|data|dataset|archive|backups?|rota|logo|assets|folders?|files"
    r"|photos|pictures|invoices|contracts|papers|forms"
    r"|receipts|reports?|transcripts|drafts)"
)


def _moved(who: str) -> str:
    """The pattern of a move of `who`. A product or an office on either side makes it no new home."""
    return (
        rf"(?:(?:{who})(?:'ve| have)? {_ADV}(?:moved|relocated|emigrated|settled)(?: back| house| here"
        rf"| over)?(?: from (?P<left>{PLACE}))?) (?:to|in) (?P<town>{PLACE})(?P<behind> .*)?"
    )


_IDENTITY: Final[tuple[Rule, ...]] = (
    rule(
        r"my (?:preferred )?pronouns are (?P<rest>[a-z]+(?:/[a-z]+)+)",
        Says("user", "pronouns", "Pronouns are {rest}", confidence=0.95, priority=CORE),
        need="pronouns",
    ),
    rule(
        rf"my (?:full |first |last |real |given )?name(?:'s| is) (?P<name>{NAME})",
        Says("user", "name", "Name is {name}", confidence=0.95, priority=CORE),
        need="name",
    ),
    rule(
        rf"{_AM} (?P<name>{NAME}),? (?:and )?(?:i'm |i am )?(?:an?|the) (?P<job>{JOB})"
        rf"(?: (?:at|for|with) (?P<org>{ORG}))?(?:,? (?:based |living )?(?:in|near)"
        rf" (?P<place>{PROPER})|,? from (?P<origin>{PROPER}))?",
        Says("user", "name", "Name is {name}", confidence=0.85, priority=CORE),
        Says("user", "job", "Works as {job}", confidence=0.85, priority=CORE),
        Says("user", "employer", "Works at {org}", confidence=0.85, priority=CORE),
        Says("user", "home", "Lives in {place}", confidence=0.75, priority=CORE),
        Says("user", "origin", "Is from {origin}", confidence=0.75, priority=CORE),
        wide=True,
    ),
    rule(
        rf"{_AM} (?P<self>{NAME})(?=,? (?:nice|pleased|and (?:i|we|my)|here|from)\b)",
        Says("user", "name", "Name is {self}", confidence=0.7, priority=CORE),
        wide=True,
    ),
    rule(
        rf"{_AM} (?P<self>{NAME})$",
        Says("user", "name", "Name is {self}", confidence=0.7, priority=CORE),
        greeting=True,
    ),
    rule(
        rf"{_AM} (?=\S+ \S)(?P<self>{NAME})$",
        Says("user", "name", "Name is {self}", confidence=0.7, priority=CORE),
    ),
    rule(
        rf"(?:(?:my )?(?:friends|people|everyone|everybody|family|colleagues)(?: just| usually"
        rf"| all)? calls? me|i go by|i'm called)"
        rf" (?P<name>{NAME})",
        Says("user", "form of address", "Goes by {name}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"{_AM} {_ADV}(?:an?|the|one of the) (?P<job>{JOB})"
        rf"(?: (?:at|for|with) (?P<org>{ORG}))?",
        Says("user", "job", "Works as {job}", confidence=0.85, priority=CORE),
        Says("user", "employer", "Works at {org}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"(?:i {_ADV}work|{_AM} {_ADV}working|i've been working|i make my living) as (?:an?"
        rf"|the) (?P<trade>[\w/ -]+?)"
        rf"(?: (?:at|for|with) (?P<org>{ORG})|$|,| (?:in|near|since|from|and|but|on|where|while)\b)",
        Says("user", "job", "Works as {trade}", confidence=0.9, priority=CORE),
        Says("user", "employer", "Works at {org}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"(?:i've|i have) been (?:working as )?an? (?P<job>{JOB})(?P<rest> (?:for|since|at)\b.+)?",
        Says("user", "job", "Works as {job}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"(?:i (?:no longer|don't|do not|used to) work|i (?:stopped|quit) working) (?:at|for"
        rf"|with) (?P<org>{ORG})",
        Says("user", "employer", "Works at {org} no longer", change="ends", priority=CORE),
        need="work",
    ),
    rule(
        rf"(?:i (?:just )?(?:quit|left|lost|resigned from) my (?:old )?(?:job|position|role) (?:at|with)"
        rf"|i (?:just )?(?:resigned from|was laid off (?:from|by)|got fired from"
        rf"|got laid off from)) (?P<org>{ORG})",
        Says("user", "employer", "Works at {org} no longer", change="ends", priority=CORE),
    ),
    rule(
        rf"(?:i {_ADV}work|{_AM} {_ADV}(?:working|employed|interning)|i've (?:been )?work(?:ed"
        rf"|ing)) (?:full[- ]time |part[- ]time )?"
        rf"(?:at|for) (?P<org>{ORG})(?: as (?:an?|the) (?P<job>{JOB}))?",
        Says("user", "employer", "Works at {org}", confidence=0.9, priority=CORE),
        Says("user", "job", "Works as {job}", confidence=0.85, priority=CORE),
        need="at |for ",
    ),
    rule(
        rf"(?:i|i'll|i've|i'm) {_ADV}(?:start|started|starting|begin|began|joined|joining|join|be starting)"
        rf"(?:(?: working| work| (?:a|my) new (?:job|role|position)| a job) (?:at|with|for)| at) (?P<org>{ORG})"
        rf"(?: as (?:an?|the) (?P<job>{JOB}))?",
        Says("user", "employer", "Works at {org}", confidence=0.85, priority=CORE),
        Says("user", "job", "Works as {job}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"(?:i {_ADV}(?P<does>run|lead|manage|head|head up|look after|teach|do)"
        rf"|{_AM} {_ADV}(?P<doing>(?:running|leading|managing|heading|teaching) )) ?"
        rf"(?P<part>(?:the |a )?[a-z][\w &-]{{2,40}}?) (?:at|for) (?P<org>{ORG})",
        Says("user", "employer", "Works at {org}", confidence=0.8, priority=CORE),
        Says("user", "job", "Responsible for {part} at {org}", confidence=0.8, priority=CORE),
        need=" at | for ",
    ),
    rule(
        rf"{_AM} {_ADV}with (?P<org>{PROPER})$",
        Says("user", "employer", "Works at {org}", confidence=0.7, priority=CORE),
        need="with",
    ),
    rule(
        rf"i(?:'ve)? {_ADV}joined (?P<org>{PROPER}) as (?:an?|the|their) (?P<trade>[\w/ -]+)",
        Says("user", "employer", "Works at {org}", confidence=0.85, priority=CORE),
        Says("user", "job", "Works as {trade}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"i(?:'ve)? {_ADV}(?:got|landed|accepted|took|found|start|started|have|got offered) (?:a|my"
        rf"|the) (?:new )?(?:job|position|role)"
        rf" (?:at|with) (?P<org>{ORG})",
        Says("user", "employer", "Works at {org}", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"my (?:new |current )?(?:employer|company|workplace) is (?:called )?(?P<org>{PROPER})",
        Says("user", "employer", "Works at {org}", confidence=0.85, priority=CORE),
    ),
    rule(
        r"my (?:job|occupation|profession|day job) is (?P<thing>.+)",
        Says("user", "job", "Job is {thing}", confidence=0.75, priority=CORE),
    ),
    rule(
        rf"i {_ADV}work in (?P<field>{_FIELD})\b",
        Says("user", "field of work", "Works in {field}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"(?:i {_ADV}work|{_AM} {_ADV}working) (?P<rest>(?:fully )?remote(?:ly)?|from home"
        rf"|part[- ]time|nights|night shifts|shifts"
        r"|freelance|from a co-?working space)\b",
        Says("user", "working arrangement", "Works {rest}", confidence=0.75),
    ),
    rule(
        rf"{_AM} {_ADV}(?P<rest>retired|self-employed|unemployed|between jobs|on (?:maternity"
        rf"|paternity|parental) leave)\b",
        Says("user", "job", "Is {rest}", confidence=0.8, priority=CORE),
    ),
    rule(
        r"i (?:own|run|co-?own|founded|co-?founded|have) (?P<rest>(?:an?|my own"
        r"|our own) (?:[\w-]+ ){0,4}(?:company|startup|start-up|shop"
        r"|bakery|studio|store|business|restaurant|café|cafe|farm|agency|practice|blog|podcast"
        r"|newsletter|channel|guesthouse)\b.*)",
        Says("user", "business", "Runs {rest}", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"(?:i {_ADV}study|{_AM} {_ADV}studying|{_AM} {_ADV}majoring in|{_AM} (?:doing|finishing"
        rf"|pursuing|working on|in) (?:an?|my) "
        rf"(?P<degree>phd|doctorate|master's|masters|bachelor's|degree|mba|apprenticeship"
        rf"|minor) (?:in|on)) (?P<thing>.+)",
        Says("user", "studies", "Studies {thing}", confidence=0.75, priority=CORE),
    ),
    rule(
        rf"{_AM} {_ADV}(?P<rest>an? (?:[\w-]+ ){{0,3}}(?:student|undergraduate|undergrad"
        rf"|phd candidate|apprentice|trainee)\b.*)",
        Says("user", "studies", "Is {rest}", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"(?:i|we) (?:used to live|no longer live|don't live"
        rf"|lived) in (?P<place>{PLACE})(?P<gone> any ?more| before| until.*)?",
        Says("user", "home", "Lives in {place} no longer", change="ends", confidence=0.8, priority=CORE),
        need="live",
    ),
    rule(
        rf"(?:(?:i|we) {_ADV}live|(?:{_AM}|we're|we are) {_ADV}(?:living|based|located|settled"
        rf"|staying permanently)"
        rf"|(?:i've|we've|i have|we have) (?:been living|lived)) (?:\w+ )?(?:in|near|outside"
        rf"|just outside|on|just north of|just south of)"
        rf" (?P<place>{PLACE})",
        Says("user", "home", "Lives in {place}", confidence=0.9, priority=CORE),
    ),
    rule(
        _moved("i|my (?:family|wife|husband|partner) and i"),
        Says("user", "home", "Moved to {town}{behind}{when}", confidence=0.9, priority=CORE),
        need="moved|relocated|emigrated|settled",
    ),
    rule(
        _moved("we"),
        Says("user", "home", "Moved to {town}{behind}{when}", confidence=0.9, priority=CORE),
        need="moved|relocated|emigrated|settled",
        alone=True,
    ),
    rule(
        rf"(?:{_AM} {_ADV}(?:originally |actually |all the way )?from|i come from|i (?:grew up"
        rf"|was raised|was born(?: and raised)?) (?:in|on|near|outside)(?! (?:the )?(?:\d|{_MONTH}\b))"
        rf"|my home ?town is|my home ?country is|my family is from) (?P<place>{PLACE})",
        Says("user", "origin", "Is from {place}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"i {_ADV}speak (?:fluent |good |some |a little |a bit of )?(?P<languages>{LANGUAGE}.*)",
        Says("user", "languages", "Speaks {languages}", confidence=0.9, priority=CORE),
        need="speak",
    ),
    rule(
        rf"(?:my (?:native|first) (?:language|tongue)|my mother tongue) is (?P<lang>{LANGUAGE})",
        Says("user", "native language", "Native language is {lang}", confidence=0.9, priority=CORE),
    ),
    rule(
        rf"{_AM} {_ADV}(?:fluent in|a native speaker of|a native) (?P<lang>{LANGUAGE})",
        Says("user", "languages", "Is fluent in {lang}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"my (?P<lang>{_TONGUE}) is {_ADV}(?P<rest>(?:rather |a bit |a little |fairly |not )?(?:good"
        rf"|decent|fluent|ok|okay|rusty|terrible|bad|basic|poor|weak|great|native|conversational"
        rf"|passable|limited|non-existent|solid|perfect)\b.*)",
        Says("user", "skill in {lang}", "{lang} is {rest}", confidence=0.8),
    ),
    rule(
        r"(?:my birthday(?:'s| is| falls)|i was born)(?: on| in)? (?P<date>(?:the )?.*\d.*"
        r"|(?:in )?(?:january|february|march|april|may|june|july"
        r"|august|september|october|november|december)\b.*)",
        Says("user", "birthday", "Birthday is {date}", confidence=0.9, priority=CORE),
    ),
    rule(
        rf"(?:{_AM}|i (?:just )?turned|i've just turned) (?P<age>\d\d)(?: years old| yo| y/o)?(?=$|,"
        rf"| and\b| now| today| this)",
        Says("user", "age", "Is {age} years old", confidence=0.75, priority=CORE),
    ),
    rule(
        rf"{_AM} {_ADV}(?P<rest>in my (?:early |mid |late |mid-|late-|early-)?(?:twenties|thirties"
        rf"|forties|fifties|sixties|seventies|\d0s))",
        Says("user", "age", "Is {rest}", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"{_AM} (?:{_ADV}|deathly |severely |badly |slightly |mildly )(?:allergic) to (?P<thing>.+)",
        Says("user", "allergy to {thing}", "Is allergic to {thing}", confidence=0.95, priority=HEALTH),
        need="allergic",
    ),
    rule(
        r"(?:i have|i've got|i've) an? (?:[a-z]+ )?(?P<thing>[a-z]+(?: [a-z]+)?) (?:allergy|intolerance)",
        Says("user", "allergy to {thing}", "Has an allergy to {thing}", confidence=0.9, priority=HEALTH),
        need="allergy|intolerance",
    ),
    rule(
        rf"{_AM} {_ADV}(?:an? )?(?P<rest>{DISABILITY})\b",
        Says("user", "health: {rest}", "Is {rest}", confidence=0.9, priority=HEALTH),
    ),
    rule(
        rf"{_AM} {_ADV}(?P<rest>{DIET})\b(?! (?:recipe|option|meal|dish|food|place|restaurant))",
        Says("user", "diet", "Is {rest}", confidence=0.9, priority=HEALTH),
    ),
    rule(
        rf"{_AM} (?:not|no longer) (?:an? )?(?P<rest>{DIET})(?: any ?more| any longer)?$",
        Says("user", "diet", "Is not {rest}", confidence=0.8, priority=HEALTH),
        need="not|no longer",
    ),
    rule(
        rf"(?:{_AM} on|i follow|i keep|i'm following) (?P<rest>an? (?:[\w-]+ ){{0,2}}diet|keto|kosher|halal)\b",
        Says("user", "diet", "Is on {rest}", confidence=0.8, priority=HEALTH),
    ),
    rule(
        rf"(?:i (?:have|suffer from|live with|struggle with|deal with|get)|i've (?:got|had)"
        rf"|i've been diagnosed with|i was diagnosed with) {_ADV}"
        rf"(?:chronic |mild |severe |bad |seasonal )?(?P<thing>{CONDITION})\b",
        Says("user", "health: {thing}", "Has {thing}", confidence=0.9, priority=HEALTH),
    ),
    rule(
        r"i (?:was|got|have been|'ve been|had been) (?:just |recently )?diagnosed with (?P<thing>.+)",
        Says("user", "health: {thing}", "Was diagnosed with {thing}", confidence=0.9, priority=HEALTH),
        need="diagnosed",
    ),
    rule(
        rf"{_AM} (?:{_ADV}not|no longer) (?:actually |really )?allergic to (?P<thing>.+)",
        Says("user", "allergy to {thing}", "Is not allergic to {thing}", change="ends", priority=HEALTH),
        need="allergic",
    ),
    rule(
        r"i (?:take|am on|'m on) (?P<rest>(?:[\w-]+ ){0,3}(?:for my|medication|insulin"
        r"|antidepressants|beta blockers|blood thinners|statins)\b.*)",
        Says("user", "", "Takes {rest}", confidence=0.75, priority=HEALTH),
    ),
    rule(
        r"i (?:really |just )?(?P<no>don't|do not|never|no longer|can't|cannot) (?P<act>eat|drink"
        r"|smoke)\b(?: any\b)? ?(?P<food>[a-z][a-z -]*)?",
        Says("user", "consumes {food}", "Does not {act} {food}", confidence=0.8, priority=CORE),
        Says("user", "consumes what one can {act}", "Does not {act}", confidence=0.75, priority=CORE),
        need="eat|drink|smok",
        either=True,
    ),
    rule(
        r"i(?:'ve| have)? (?:recently |just )?(?:stopped|quit|gave up|given up) (?:(?P<act>eating"
        r"|drinking|smoking)\b ?)?(?P<food>[a-z][a-z -]*)?",
        Says("user", "consumes {food}", "Stopped {act} {food}", confidence=0.8, priority=CORE),
        Says("user", "consumes what one can smoke", "Stopped {act}", confidence=0.75, priority=CORE),
        need="eating|drinking|smoking",
        either=True,
    ),
)  # fmt: skip

_PEOPLE: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?:(?:my|our) (?P<rel>{RELATIVE})'s name is|(?:my|our) (?P<kin>{RELATIVE}) is (?:called"
        rf"|named)) (?P<name>{NAME})",
        Says("user", "name of {rel}", "Their {rel}'s name is {name}", confidence=0.9, priority=CORE),
        Says("user", "name of {kin}", "Their {kin}'s name is {name}", confidence=0.9, priority=CORE),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE}),? (?P<name>{NAME}),? {_ADV}(?:lives?|moved|is living"
        rf"|has moved|just moved) (?:in|to) (?P<place>{PLACE})",
        Says("user", "home", "{rel} {name} lives in {place}", subject="{name}", confidence=0.9, priority=CORE),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE}) {_ADV}(?:lives?|moved|is living|has moved|just moved) (?:in"
        rf"|to) (?P<place>{PLACE})",
        Says("user", "home", "{rel} lives in {place}", subject="{rel}", confidence=0.9, priority=CORE),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE}),? (?P<name>{NAME}),? {_ADV}works? (?:at|for) (?P<org>{ORG})",
        Says("user", "employer", "{rel} {name} works at {org}", subject="{name}", confidence=0.85),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE}),? (?P<name>{NAME})(?:,| is|'s"
        rf"|,? who is)? (?:is )?(?:turn(?:s|ed|ing) )?(?P<age>\d{{1,2}})\b(?! (?:minutes|hours|days"
        rf"|times))",
        Says("user", "age", "{rel} {name} is {age}", subject="{name}", confidence=0.8),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE})(?: is|'s) (?:turn(?:s|ed"
        rf"|ing) )?(?P<age>\d{{1,2}})(?: years old)?(?=$|,| and\b| now)",
        Says("user", "age", "{rel} is {age}", subject="{rel}", confidence=0.8),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE})(?:,? (?P<name>{NAME}),?)?(?: is|'s) (?:an?|the) (?P<job>{JOB})",
        Says("user", "job", "{rel} is a {job}", subject="{rel}", confidence=0.8),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE})(?P<named>,? {NAME},?)? (?P<rest>(?:is (?:allergic to"
        rf"|vegetarian|vegan|diabetic|obsessed with|afraid of|a big fan of)"
        rf"|loves|likes|hates|can't stand|prefers|can't eat|doesn't eat|doesn't drink|plays the|plays"
        rf"|speaks|studies|teaches|collects|has (?:{CONDITION})\b)(?! it\b| that\b| this\b| you\b"
        rf"| me\b| them\b).*)",
        Says("user", "", "{rel}{named} {rest}", subject="{rel}", confidence=0.75),
        Says("user", "", "{rel} {rest}", subject="{rel}", confidence=0.75),
        either=True,
    ),
    rule(
        rf"(?:{_HAVE}|i own|we own|i adopted|we adopted|we just got|i just got"
        rf"|we recently adopted) (?P<article>an?|two|three"
        rf"|one) (?P<pet>(?:[\w-]+ ){{0,3}}?(?:{RELATIVE}))"
        rf"(?:,)? (?:named|called|whose name is|and (?:his|her|its) name is) (?P<names>{NAME}(?: and {NAME})?)",
        Says("user", "name of {pet}", "Has {article} {pet} named {names}", confidence=0.9, priority=CORE),
        need="named|called|name is",
    ),
    rule(
        rf"(?:(?:{_HAVE}|my \w+ and i have|with) )?(?P<many>(?:\d|two|three|four|five|six) (?:[\w-]+ ){{0,2}}"
        rf"(?P<kind>kids|children|sons|daughters|dogs|cats|brothers|sisters|(?:{PETS})s|puppies))"
        rf"(?:,|:| named| called|, called|, named) (?P<names>{NAME}(?:, {NAME})*,? (?:and|&) {NAME})",
        Says("user", "family: {kind}", "Has {many}: {names}", confidence=0.85, priority=CORE),
        need=" and | & ",
        wide=True,
    ),
    rule(
        rf"(?:{_HAVE}) (?P<many>(?:\d|two|three|four|five|six|no) (?:[\w-]+ ){{0,2}}(?P<kind>kids|children"
        rf"|sons|daughters|dogs|cats|pets|siblings|brothers|sisters|grandchildren|(?:{PETS})s|puppies"
        rf"|ponies|nieces|nephews|cousins))\b",
        Says("user", "family: {kind}", "Has {many}", confidence=0.85, priority=CORE),
    ),
    rule(
        rf"(?:{_HAVE}) (?P<rest>an? (?:[\w-]+ ){{0,3}}?(?:son|daughter|brother|sister|twin|baby"
        rf"|toddler|{PETS})\b(?:(?: in| who| at| called)\b.*)?)$",
        Says("user", "", "Has {rest}", confidence=0.75, priority=CORE),
    ),
    rule(
        rf"{_AM} {_ADV}(?P<rest>married(?: to {NAME})?|divorced|engaged(?: to {NAME})?|widowed"
        rf"|a widow(?:er)?|single)(?=$|,| now\b| again\b| and\b| with\b| for\b)",
        Says("user", "marital status", "Is {rest}", confidence=0.8, priority=CORE),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE}),? (?P<name>{NAME}),? {_ADV}works? (?P<rest>(?:at|for|as|in|on) .+)",
        Says("user", "job", "{rel} {name} works {rest}", subject="{name}", confidence=0.8),
        need=" work",
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE}) {_ADV}works? (?P<rest>(?:at|for|as|in) .+)",
        Says("user", "job", "{rel} works {rest}", subject="{rel}", confidence=0.75),
        need=" work",
    ),
    rule(
        rf"(?:(?:the|my|our) [a-z]+,? )?(?P<name>{NAME}),? (?P<rest>(?:is|has|can't eat) (?:an? )?"
        rf"(?:allergic to .+|{DISABILITY}|{DIET}|{CONDITION}|(?:nut|peanut|milk|egg) allergy|gluten"
        rf"|nuts|dairy))\b",
        Says("user", "", "{name} {rest}", subject="{name}", confidence=0.8, priority=HEALTH),
    ),
    rule(
        rf"(?:my|our) (?P<rel>{RELATIVE}),? (?P<name>{NAME})\b(?! (?:said|says|told|thinks))",
        Says("user", "name of {rel}", "Their {rel} is named {name}", confidence=0.75),
    ),
)  # fmt: skip

_LIKINGS: Final[tuple[Rule, ...]] = (
    rule(
        r"(?P<rule>(?:i (?:really |just )?(?:hate|dislike|don't like|don't need|can't stand|love"
        r"|like|want)|i'm (?:really )?not (?:a (?:big |huge )?fan of|into))"
        r" (?:(?:long|short|verbose|wordy|detailed|flowery|brief|concise|lengthy|chatty|bulleted|dry"
        r"|overly \w+)(?:,? (?:and )?\w+)? )"
        r"(?:introductions?|intros|answers?|explanations?|replies|responses?|summaries|preambles?"
        r"|conclusions)\b.*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.75),
    ),
    rule(
        rf"(?:i {_ADV}prefer|i'd (?:much |really )?prefer|my preference is)(?: for| to (?:use|have"
        rf"|drink|eat))? "
        rf"(?P<thing>(?!to )[^,;]+?),? (?:to|over|rather than|instead of|not|more than) (?P<other>[^,;]+)",
        Says("user", "@preference", "Prefers {thing} to {other}", confidence=0.9),
        need="prefer",
    ),
    rule(
        rf"(?:i {_ADV}prefer|i'd (?:much |really )?prefer|my preference is) (?P<rule>(?:short|brief"
        rf"|concise|long|detailed|direct|simple|plain|blunt"
        r"|honest|step-by-step|bulleted|structured|terse"
        r"|thorough)(?:,? (?:and )?[\w-]+){0,3} (?:answers?|replies|responses?|explanations?"
        r"|summaries)\b.*"
        r"|(?:answers?|replies|responses?|explanations?)\b.+|it when you .+|(?:if |when |that )you .+)",
        Says("feedback", "@conduct", "Prefers {rule}", subject="assistant", confidence=0.8),
        need="prefer",
    ),
    rule(
        rf"(?:i {_ADV}prefer|i'd (?:much |really )?prefer|my preference is)(?: for| to (?:use|have"
        rf"|drink|eat))? {_THING}",
        Says("user", "@preference", "Prefers {thing}", confidence=0.85),
        need="prefer",
    ),
    rule(
        r"i'd (?:much |always )?rather (?:have|drink|eat|use|take) (?P<thing>[^,;]+?) (?:than|over"
        r"|instead of) (?P<other>[^,;]+)",
        Says("user", "@preference", "Prefers {thing} to {other}", confidence=0.8),
        need="rather",
    ),
    rule(
        r"i'd (?:much |always )?rather (?:have|drink|eat|use|take) (?P<thing>[^,;]+)",
        Says("user", "@preference", "Prefers {thing}", confidence=0.75),
        need="rather",
    ),
    rule(
        r"i'd (?:much |always )?rather (?P<thing>(?:swim|run|walk|cycle|read|cook|drive|fly|work"
        r"|live|travel|hike|stay|be|go|play|write|listen|talk|meet)(?: (?!with this|it|that"
        r"|the)[\w' -]+)?)$",
        Says("user", "@preference", "Would rather {thing}", confidence=0.65),
        need="rather",
    ),
    rule(
        r"i (?:usually |always |only )?(?P<act>take|drink|have|like"
        r"|eat) my (?P<what>[a-z]+) (?P<rest>(?:with|without|black|strong|weak|plain|hot|cold|iced"
        r"|rare|medium|well[- ]done|spicy|mild|sweet|unsweetened|scrambled|fried|decaf)\b.*)",
        Says("user", "how they take {what}", "Takes {what} {rest}", confidence=0.8),
        need=" my ",
    ),
    rule(
        r"(?P<thing>[\w' -]{2,40}?),? (?:over|rather than|instead of"
        r"|beats) (?P<other>[\w' -]{2,40}?),? (?:for me|any day|every time|any time)",
        Says("user", "@preference", "Prefers {thing} to {other}", confidence=0.8),
        need="for me|any day|every time|any time",
    ),
    rule(
        rf"i {_ADV}(?:like|love|enjoy) (?P<thing>[^,;]+?) (?:more than|better than|over) (?P<other>[^,;]+)",
        Says("user", "@preference", "Prefers {thing} to {other}", confidence=0.85),
        need="more than|better than|over",
    ),
    rule(
        rf"i {_ADV}(?:like|love|enjoy) (?P<thing>[\w' -]{{2,40}}?) (?:more|better|best|the most)$",
        Says("user", "@preference", "Prefers {thing}", confidence=0.7),
        need="more|better|best|most",
    ),
    rule(
        r"(?:one of )?my (?:all[- ]time |absolute )?favou?rite (?P<kind>[\w -]{2,30}?)(?: of all"
        r" time| ever)?(?: is|'s| has always been| are) (?P<thing>.+)",
        Says("user", "@favourite", "Favourite {kind} is {thing}", confidence=0.9),
        need="favo",
    ),
    rule(
        r"(?P<thing>[A-Z][\w' -]{1,40}?|[a-z][\w' -]{1,30}?) (?:is|are"
        r"|has always been) (?:one of )?my (?:all[- ]time "
        r"|absolute )?favou?rite (?P<kind>[a-z -]{2,30})(?= of all time| ever|$|,)",
        Says("user", "@favourite", "Favourite {kind} is {thing}", confidence=0.8),
        need="favo",
    ),
    rule(
        rf"(?:i {_ADV}(?:hate|dislike|detest|loathe|despise|can't stand|cannot stand|can't bear)"
        rf"|{_AM} {_ADV}not (?:a (?:big |huge )?fan of|into|fond of|keen on)"
        rf"|i (?:really |just )?(?:don't|do not) (?:really |particularly |actually )?(?:like|enjoy"
        rf"|love|care for)) {_THING}",
        Says("user", "@taste", "Dislikes {thing}", confidence=0.8),
    ),
    rule(
        rf"(?:i {_ADV}(?:like|love|enjoy|adore)|i(?:'ve| have) always (?:liked|loved|enjoyed|adored)"
        rf"|{_AM} {_ADV}(?:a (?:big |huge |massive |great )?fan of|into|fond of|keen on"
        rf"|passionate about|crazy about|obsessed with)) {_THING}",
        Says("user", "@taste", "Likes {thing}", confidence=0.75),
    ),
)  # fmt: skip

_HABITS: Final[tuple[Rule, ...]] = (
    rule(
        r"i(?:'ve| have)? (?:just |recently |finally |now |since |completely )*(?:switched|moved|changed|gone"
        r"|converted|migrated)(?: over| back| away)? (?:from (?:using )?(?P<dropped>[^,;]+?) )?to"
        r" (?:using )?(?P<choice>[^,;]+)",
        Says("user", "@choice", "Switched from {dropped} to {choice}{when}", confidence=0.85),
        Says("user", "@choice", "Switched to {choice}{when}", confidence=0.85),
        need=" to ",
        either=True,
    ),
    rule(
        r"i (?:now |mostly |mainly |only |just )*use (?P<choice>[^,;]+?) (?:now )?(?:instead of|rather than"
        r"|and no longer|not|over) (?P<dropped>[^,;]+?)(?: now| these days| any ?more)?$",
        Says("user", "@choice", "Uses {choice} instead of {dropped}", confidence=0.85),
        need="instead|rather|no longer|not|over",
    ),
    rule(
        r"i (?=.*\b(?:now|these days|nowadays)\b)(?:now |mostly |mainly |only )*use (?P<choice>[^,;]+?)"
        r"(?: now| these days| nowadays)?$",
        Says("user", "@choice", "Uses {choice} now", confidence=0.75),
        need="now|these days",
    ),
    rule(
        r"i (?:still |usually |often |sometimes )?(?P<verb>go|get|play|train|run|swim|climb|sail"
        r"|surf|hike|ride|volunteer|work|cook|paint|sing|fish|garden|meet|see|visit"
        r"|call) (?P<rest>.*\b(?:most (?:days|weekends|evenings|mornings|nights|weeks)|on weekends"
        r"|in the (?:mornings|evenings))\b.*)",
        Says("user", "", "{verb} {rest}", confidence=0.75),
        need="most |weekends|in the ",
    ),
    rule(
        r"i (?:grew up|was raised|was brought up) speaking (?P<rest>[a-z]+.*)",
        Says("user", "languages", "Grew up speaking {rest}", confidence=0.85, priority=CORE),
        need="speaking",
    ),
    rule(
        r"i (?P<verb>drive|ride|own|play on|sail) (?P<rest>(?:an?|my) (?!hard|bargain|point|wave"
        r"|line)[\w' -]{3,40})$",
        Says("user", "", "{verb} {rest}", confidence=0.7),
    ),
    rule(
        r"(?P<habit>(?:i|we) (?P<verb>(?:always|usually|normally|typically|generally|mostly|often"
        r"|rarely|tend to) (?:use|drink|eat|work|run|cook|get up|wake up|take"
        r"|listen|watch|wear|commute|buy|train|drive|cycle|bike|walk|swim|sleep|skip|travel|pay|shop"
        r"|meditate|stretch|study|play|order|go for|go to|write|have (?:tea|coffee|lunch|dinner"
        r"|breakfast))) (?P<rest>.+))",
        Says("user", "", "{verb} {rest}", confidence=0.75),
        need="always|usually|normally|typically|generally|mostly|often|rarely|tend to",
    ),
    rule(
        r"i (?P<verb>use|drink|eat|run|cook|get up|wake up|take|listen|watch|commute|train|cycle"
        r"|bike|walk|swim|meditate|stretch|study|play|go|work|read|practi[sc]e|volunteer|journal"
        r"|write|call|visit|fast|bake)"
        r" (?P<rest>.*\b(?:every (?:day|morning|evening|night|week|weekend|month|other day"
        r"|single day|\w+day)|each (?:day|morning|week)|daily|on (?:mon|tues|wednes|thurs|fri|satur"
        r"|sun)days|on weekends"
        r"|twice a week|once a week|(?:two|three|four|five) times a week)\b.*)",
        Says("user", "", "{verb} {rest}", confidence=0.75),
        need="every|each|daily|days|weekend|a week",
    ),
    rule(
        r"i(?:'ve| have) been (?P<doing>(?:playing (?!for\b)|learning|practi[sc]ing|teaching"
        r"|collecting|painting|writing|studying|running|climbing|cycling|growing|singing|dancing"
        r"|gardening|knitting|sewing|baking|volunteering|doing yoga|married|sober|vegan"
        r"|vegetarian)\b.*"
        r"(?:for|since) (?!.*\b(?:hours?|minutes?)\b).+)",
        Says("user", "", "Has been {doing}", confidence=0.8),
        need="been",
    ),
    rule(
        r"i (?:also |still )?(?P<verb>play|collect|teach|coach|volunteer|practi[sc]e|knit|breed"
        r"|grow) (?P<rest>(?:at |in |with |the |as )?[\w' -]+(?:, [\w' -]+)*)",
        Says("user", "", "{verb} {rest}", confidence=0.7),
    ),
    rule(
        rf"{_AM} {_ADV}(?P<rest>{TRAIT})\b",
        Says("user", "", "Is {rest}", confidence=0.75),
    ),
    rule(
        r"my (?P<what>(?:main |personal |biggest |long-term |ultimate |career |fitness )?(?:goal"
        r"|dream|aim|ambition)|new year's resolution)(?: this year| for this year"
        r"| for \d{4})? is (?:to |that )?(?P<rest>.+)",
        Says("user", "goal", "{what}: {rest}", confidence=0.75),
        need="goal|dream|aim|ambition|resolution",
    ),
    rule(
        rf"{_AM} {_ADV}(?P<doing>(?:training for|saving (?:up )?for|learning (?:how to|to (?:play"
        rf"|speak|cook|drive|swim|code|knit|sew|paint|dance|ride|ski|surf|bake)|{LANGUAGE})"
        rf"|preparing for|studying for|writing a (?:book|novel|thesis)|teaching myself) ?.*)",
        Says("user", "", "Is {doing}", confidence=0.7),
    ),
    rule(
        r"i (?:really |have always |'ve always )?(?:want|wanted|dream|'d love|hope) (?:to "
        r"|of )(?P<doing>(?:become|becoming|learn (?:to )?(?:play|speak|cook|drive|swim|code)"
        r"|run a marathon|write a (?:book|novel)|start a (?:business|company|family|charity)|open a"
        r"|opening a) ?.*)",
        Says("user", "", "Wants to {doing}", confidence=0.7),
    ),
    rule(
        rf"{_AM} {_ADV}(?P<rest>(?:new to|good at|bad at|terrible at|comfortable with"
        rf"|experienced (?:in|with)|not (?:very )?familiar with|familiar with|afraid of|scared of"
        rf"|terrified of) (?!(?:this|that|it|the|your|how|what|losing|being)\b).+)",
        Says("user", "", "Is {rest}", confidence=0.7),
    ),
    rule(
        r"i(?:'ve| have)(?: got)? (?P<rest>(?:over |about |more than |nearly )?(?:\d{1,2}|two|three"
        r"|four|five|six|seven|eight|nine|ten|a few|several)\+? (?:years|months)(?: of"
        r"|')? (?:of )?(?:[\w-]+ )?experience.*)",
        Says("user", "", "Has {rest}", confidence=0.8, priority=CORE),
        need="experience",
    ),
    rule(
        r"i (?:use|have|drive|ride|own) (?P<rest>(?:an?|the|my) (?:[\w'-]+ ){0,4}(?:car|bike|bicycle"
        r"|motorbike|motorcycle|van|piano|guitar|cello|violin|keyboard|allotment|greenhouse|camper"
        r"|boat|thinkpad|macbook|steam deck|kindle|camera|3d printer|wheelchair|hearing aid|pixel"
        r"|iphone)(?: (?:\d+|pro|air|mini|carbon|\w\d+))*)$",
        Says("user", "", "Has {rest}", confidence=0.7),
    ),
    rule(
        rf"i {_ADV}use (?P<thing>[\w.+# -]{{2,30}}?) (?:as my|for all my|for my)"
        r" (?P<purpose>[a-z][\w -]{2,30})",
        Says("user", "{purpose}", "Uses {thing} for their {purpose}", confidence=0.75),
        need=" my ",
    ),
    rule(
        r"my (?P<what>(?:main |primary |preferred |default |go-to )(?:editor|language"
        r"|programming language|ide|browser|shell|terminal|os|operating system|laptop|machine"
        r"|keyboard layout)|editor|ide|keyboard layout|time ?zone|blood type|shoe size|height"
        r"|star sign|zodiac sign|favourite team|commute|shift|home office|budget|dentist"
        r"|doctor|gp|car|phone|laptop) (?:is|are|'s) (?!not\b|very|so\b|too|broken|slow|dead|acting"
        r"|getting|about|still|now|always|really|a bit|on\b|off\b|out\b|making|going"
        r"|being)(?P<thing>.+)",
        Says("user", "{what}", "{what} is {thing}", confidence=0.75),
        need="my ",
    ),
)  # fmt: skip

_WE_CHOOSE: Final = (
    r"we(?:'re| are|'ve| have)? (?:now |all |just |finally )*(?:going(?: to go)?|gone|went) with"
)

_PROJECTS: Final[tuple[Rule, ...]] = (
    rule(
        r"(?P<rest>(?P<what>(?:our |the )?[a-z]*(?:ing|ment|ments|tests?|migrations|builds?|releases"
        r"|styles|styling|docs|secrets|logs|routing|state|auth|ci))"
        r" (?:is|are) (?:all )?(?:done|handled|managed|built|written|run|deployed|formatted"
        r"|generated|tracked|stored|hosted) (?:with|by|in|via|using|through|on)"
        r" (?P<tool>.+))",
        Says("project", "@tool", "{rest}", subject="project", confidence=0.75),
        need=" is | are ",
    ),
    rule(
        r"(?:we(?:'ve| have)?|(?:the|our) team(?: has)?|it was) (?:all |finally |just |now |already "
        r"|also )*(?P<decided>(?:decided|agreed|chose|chosen|opted|settled|standardi[sz]ed|voted|picked"
        r"|selected|went with|landed on)(?: that)?)\b (?P<tool>.+)",
        Says("project", "@tool", "{decided} {tool}", subject="project", confidence=0.9),
        need="decided|agreed|chose|opted|settled|standardi|voted|picked|selected|went with|landed on",
    ),
    rule(
        rf"(?:{_WE_CHOOSE}|we use|we're using) (?P<first>[\w.+#-]+)(?:,| and|, and|,? with|,? plus)"
        r" (?P<second>[\w.+#-]+)$",
        Says("project", "@first", "Uses {first}", subject="project", confidence=0.85),
        Says("project", "@second", "Uses {second}", subject="project", confidence=0.85),
        need="we",
    ),
    rule(
        rf"(?:{_WE_CHOOSE}) (?P<product>[\w.+# -]+)",
        Says("project", "@product", "Uses {product}", subject="project", confidence=0.8),
        need=" with ",
    ),
    rule(
        r"use (?P<tool>(?P<first>[\w.+#-]+(?: [\w.+#-]+)?),? (?:not|instead of|rather than|and not"
        r"|never|over) [\w.+#-]+(?: [\w.+#-]+)?(?: (?:for|in|to|when|as|here|everywhere|please)\b.*)?)$",
        Says("project", "@tool", "Use {tool}", subject="project", confidence=0.8),
        need="not |instead|rather|never|over",
    ),
    rule(
        r"we(?:'ve| have| are|'re)? (?:just |recently |finally |now |all )*(?P<verb>moved|moving|gone)"
        r"(?: over| away)? from (?P<product>[\w.+# -]{2,40}?) to (?P<tool>.+)",
        Says("project", "@tool", "{verb} from {product} to {tool}", subject="project", confidence=0.85),
        need=" to ",
    ),
    rule(
        r"we(?:'ve| have| are|'re)? (?:just |recently |finally |now |all )*(?P<verb>moved|moving|gone)"
        r"(?: over| away)?(?: from (?P<other>[\w.+# -]{2,40}?))? to (?P<product>[\w.+# -]{2,60})",
        Says("project", "@product", "{verb} from {other} to {product}", subject="project", confidence=0.85),
        Says("project", "@product", "{verb} to {product}", subject="project", confidence=0.85),
        either=True,
        need=" to ",
    ),
    rule(
        r"we(?:'ve| have| are|'re)? (?:just |recently |finally |now |all )*(?P<verb>switched|moved(?! to\b| over"
        r"| away| from)|migrated|changed|switching|migrating)(?: over"
        r"| everything| (?:the|our) [\w -]{2,24}?)?(?: (?:away )?from (?P<other>[\w.+# -]{2,40}?))?"
        r" to (?P<tool>.+)",
        Says("project", "@tool", "{verb} from {other} to {tool}", subject="project", confidence=0.85),
        Says("project", "@tool", "{verb} to {tool}", subject="project", confidence=0.85),
        either=True,
        need=" to ",
    ),
    rule(
        r"we(?:'ve| have)? (?:just |recently |finally "
        r"|now )*replaced (?P<other>[\w.+# -]{2,40}?) (?:with|by) (?P<tool>.+)",
        Says("project", "@tool", "Replaced {other} with {tool}", subject="project", confidence=0.85),
        need="replaced",
    ),
    rule(
        r"we (?P<verb>(?:no longer|(?:don't|do not)(?=.* any ?(?:more|longer)\b)) (?:use|run|deploy"
        r"|rely on|test on|build)) (?P<tool>.+)",
        Says("project", "@support", "{verb} {tool}", subject="project", confidence=0.8),
        Says("project", "@dropped", "{verb} {tool}", subject="project", change="ends"),
        need="no longer|don't|do not",
    ),
    rule(
        r"we (?P<verb>(?:no longer|don't|do not|never) (?:use|support|deploy|maintain|ship|run|write"
        r"|commit|merge|allow|accept|target|mock|push|rely on|test on|build)) (?P<tool>.+)",
        Says("project", "@support", "{verb} {tool}", subject="project", confidence=0.8),
        need="no longer|don't|do not|never",
    ),
    rule(
        rf"we(?:'ve| have)? (?:{_DROPPED} support(?:ing|"
        rf" for)|(?P<used>{_DROPPED}(?: using)?(?!.* support\b))|{_DROPPED}) (?P<tool>.+)",
        Says("project", "@support", "Dropped {tool}", subject="project", confidence=0.75),
        Says("project", "@dropped", "{used} {tool}", subject="project", change="ends"),
    ),
    rule(
        rf"(?:we|(?:the|our) team)(?:'re| are)? (?P<verb>(?:(?:now|currently|always|only|still|all|also"
        rf"|already) )*(?:{_TEAM_VERB})s?) (?P<tool>.+)",
        Says("project", "@tool", "{verb} {tool}", subject="project", confidence=0.8),
    ),
    rule(
        rf"(?P<rest>(?:the|this|our) (?:[\w-]+ ){{0,2}}{_PROJECT}(?:'s)? (?:[\w-]+ )?(?:uses|use"
        rf"|is written in|are written in|is built (?:with|on|in)|targets|runs on|run on|requires"
        rf"|supports|is deployed (?:to|on|with|by)|is hosted (?:on|at)"
        rf"|depends on|follows|lives? in|is versioned|are versioned|must|has to|is licensed under"
        rf"|talks to|stores) (?!it\b|this\b|that\b|me\b|you\b).+)",
        Says("project", "", "{rest}", subject="project", confidence=0.8),
    ),
    rule(
        r"(?:the|our) (?P<what>default branch|main branch|release branch|package manager|database"
        r"|minimum python version|python version|node version|ci|license|licence|sprint|code style"
        r"|line length|commit convention|branching model|coverage threshold|tech stack|stack"
        r"|staging environment|production environment|coding standard|api version"
        r"|target platform) (?:is|are|lasts|runs|'s) (?!not\b|broken|down\b|failing|slow|very|too\b"
        r"|red\b|wrong|empty)(?P<thing>.+)",
        Says("project", "{what}", "{what} is {thing}", subject="project", confidence=0.85),
    ),
    rule(
        r"(?P<rest>(?:all|every|each) (?P<what>(?:new |public |our "
        r"|the )*(?:[\w-]+ ){0,2}(?:components?|endpoints?|prs?|pull requests?|commits?|migrations?"
        r"|tests?|functions?|modules?|classes|files|services?|branches|apis?|strings|dates"
        r"|timestamps|errors|releases?|changes|features?|packages|queries|tables|images|secrets"
        r"|requests|responses|tickets|icons|colou?rs|documents|docs))\b.* (?:are|is|must|should|need"
        r"|needs|have to|has to|use|uses|go|goes|live|lives|get|gets|require|requires|follow"
        r"|follows)\b.+)",
        Says("project", "", "{rest}", subject="project", confidence=0.8),
        need="all|every|each",
    ),
    rule(
        rf"(?P<owner>{NAME}(?: and {NAME})?)(?:'s team)? (?:now )?(?:owns|maintains"
        rf"|is responsible for|is in charge of|is the (?:owner|maintainer|lead|point person|contact"
        rf"|go-to person) (?:of|for)|looks after|takes care of|took over"
        rf"|is on call for) (?P<asset>.+)",
        Says("project", "owns {asset}", "{owner} owns {asset}", subject="{owner}", confidence=0.85),
    ),
    rule(
        rf"(?P<owner>{NAME}) is (?:now )?(?:the|our|your) (?:one|person|man|woman) to (?:ask|talk to"
        rf"|ping|contact|go to|call) (?:about|for|on) (?P<asset>.+)",
        Says("project", "owns {asset}", "{owner} is the one to ask about {asset}", subject="{owner}", confidence=0.8),
        need="to ask|to talk|to ping|to contact|to go to|to call",
    ),
    rule(
        rf"(?P<owner>{NAME}) (?P<does>leads|handles|manages|runs|reviews|signs off"
        rf"|approves) (?P<asset>(?:the|our|all|every) .+)",
        Says("project", "{does} {asset}", "{owner} {does} {asset}", subject="{owner}", confidence=0.75),
    ),
    rule(
        r"(?P<rest>(?:(?:the|our|there's a|there is a) )?(?P<what>(?:code |feature |merge |release "
        r"|deploy(?:ment)? |holiday |budget )?freeze)(?: is| lasts| holds| runs| stays)?(?: on"
        r"| in (?:place|effect))? (?:until|till|through|up to) .+)",
        Says("project", "freeze", "{rest}", subject="project", confidence=0.85, past=False),
        need="freeze",
    ),
    rule(
        r"(?:the|our) (?P<what>(?:next |first |public |beta )?(?:release|launch|deadline|go-live"
        r"|demo|milestone|cutover|rollout|kick-?off|audit))(?: date)? (?:is|'s|has been"
        r"|was)(?: now)? (?:on |due |set for |planned for |scheduled for |by |moved to "
        r"|postponed to |due on |due by )*(?P<date>(?:the )?\d.*|(?:next|this|january|february|march"
        r"|april|may|june|july|august|september|october|november|december|mon|tues|wednes|thurs|fri"
        r"|satur|sun)\w*.*)",
        Says("project", "{what} date", "{what} is on {date}", subject="project", confidence=0.8, past=False),
    ),
)  # fmt: skip

_CONDUCT: Final[tuple[Rule, ...]] = (
    rule(
        r"(?:forget|ignore|disregard|drop|never mind|scrap) (?:what i (?:said|told you|asked)|my (?:rule|request"
        r"|preference|wish|instruction)s?|the rule|everything i said)(?: before| earlier)? (?:about|on"
        r"|regarding|concerning) (?:not using |using |no |the |your )*(?P<topic>[\w -]+)",
        Says("feedback", "@topic", "No rule about {topic} any more", subject="assistant", change="ends"),
        need="about|on |regarding|concerning",
    ),
    rule(
        r"(?:you (?:can|may) (?:use|add) (?P<topic>[\w -]+?) again|(?P<rest>[\w -]+?) (?:are|is) (?:fine|ok|okay"
        r"|allowed|welcome) again)(?: now| from now on| please)?$",
        Says("feedback", "@topic", "No rule about {topic} any more", subject="assistant", change="ends"),
        need="again",
    ),
    rule(
        r"(?P<rule>(?:don't|do not|never) (?:touch|edit|modify|change|delete|remove|rename|refactor|overwrite"
        r"|reformat|move|commit)\b(?: to| anything in| anything under| files in| the files in)?"
        r"(?: (?:the|our|my|any))?(?: (?:[\w./-]*[\w/]) (?:[\w./-]+ )?(?:folder|directory|dir|module|package|branch"
        r"|tables?|schema|migrations|repo|repository|codebase|database|service|config|configuration|fixtures"
        r"|tests|files|code)| [\w.@~-]*/[\w./@~-]+)(?! (?:yet|now|today|for now|this time|until)\b)"
        r"(?!.*\b(?:this|that|yet|today|for now)\b).*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.7),
        need="don't|do not|never",
    ),
    rule(
        rf"(?P<rule>(?:always|never|under no circumstances(?: should you)?) (?!{_PEP_TALK})"
        rf"(?:{_IMPERATIVE})\b(?!.*\b(?:unless|except|usually|if possible|when possible)\b).+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.9, priority=ABSOLUTE),
        need="always|never|under no",
    ),
    rule(
        rf"(?:you (?:should|must|can|have to|need to|may) |i (?:want|need|expect|'d like"
        rf"|would like) you to |make sure (?:to |that you |you )|be sure to )?(?P<rule>(?:always"
        rf"|never) (?!{_PEP_TALK})(?:{_IMPERATIVE})\b.+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.85),
        need="always|never",
    ),
    rule(
        rf"(?:from now on|going forward|from here on(?: out)?|in (?:the )?future|henceforth"
        rf"|as a (?:general )?rule|in general|by default),? (?:please )?(?:you should |i want you to "
        rf"|i'd like you to |can you |could you )?(?P<rule>(?:always |never |only |also |don't "
        rf"|do not )?(?:{_IMPERATIVE})\b.+|no \w+.*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.9),
        need="now on|forward|here on|future|henceforth|rule|general|default",
    ),
    rule(
        rf"(?P<rule>(?:when(?:ever)?|every time|each time|any ?time|before|after"
        rf"|if) you (?:{_IMPERATIVE}|are|'re|have|need|aren't|don't|finish"
        rf"|can't)\b[^,]*, (?:please )?(?:always |never |only |also |just |don't "
        rf"|do not )?(?:{_IMPERATIVE})\b.+)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.85),
        need="you ",
    ),
    rule(
        rf"(?P<rule>(?:{_IMPERATIVE})\b .+ (?:whenever|every time|each time|before|when) you (?:write"
        rf"|answer|reply|explain|suggest|add|change|edit|make changes|refactor|commit|push|run|delete"
        rf"|give me|review|finish|show|create|generate|summari[sz]e|quote|cite|use|recommend"
        rf"|translate)\b.*)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.75),
        need=" you ",
    ),
    rule(
        rf"(?P<rule>(?:don't|do not|don't you|never) ever (?:{_IMPERATIVE})\b.+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.85),
        need="ever",
    ),
    rule(
        rf"(?P<rule>(?:don't|do not) (?:{_IMPERATIVE}|start|end|worry about|bother|use)\b(?! (?:this"
        rf"|that|it|anything|me|too)\b)(?=.*\b(?:{_ABOUT_ANSWERS})).+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.7),
        need="don't|do not",
    ),
    rule(
        rf"(?P<rule>(?:stop|quit) (?:{_STYLE_GERUND})\b(?! (?:this|that|it)\b)(?<!asking)(?!.* (?:and"
        rf"|now)\b).*|(?:stop|quit) asking (?:me )?(?:if|whether|before|for (?:permission"
        rf"|confirmation|approval)|so many|follow-up|the same)\b.*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.8),
        need="stop|quit",
    ),
    rule(
        rf"(?P<rule>avoid (?:(?:{_STYLE_GERUND})\b|(?:the )?[\w -]*\b(?:{_ABOUT_ANSWERS})).*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.7),
        need="avoid",
    ),
    rule(
        r"(?P<rule>(?:keep|make) (?:your|the|all|all your|any)? ?(?:answers?|replies|responses?"
        r"|explanations?|summaries|messages) .+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.85),
        need="keep|make",
    ),
    rule(
        rf"(?P<rule>(?:answer|reply|respond|speak|talk|write back|communicate)(?: to me| me"
        rf"| with me)?(?: only| always)? (?:in|with) (?:(?:simple|plain|british|american|formal"
        rf"|informal|short|brief|bullet|full|mostly) ?)*(?:{LANGUAGE}|english|bullet points|bullets"
        rf"|sentences|complete sentences|words)\b.*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.75),
    ),
    rule(
        r"(?P<rule>be (?:(?:more|very|as|always|less|brutally) )*(?:concise|brief|direct|blunt"
        r"|honest|terse|formal|informal|succinct|straightforward|critical|skeptical|sceptical|polite"
        r"|verbose)\b.*)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.65),
    ),
    rule(
        r"(?P<rule>(?:give |show |put |state |provide )?(?:me )?(?:the )?(?:short |final "
        r"|direct )?(?:answer|conclusion|result|code|summary|verdict|recommendation"
        r"|bottom line) first\b.*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.85),
        need="first",
    ),
    rule(
        r"(?P<rule>(?:start|begin|lead|open|end|finish) (?:your |every |each "
        r"|all )?(?:\w+ )?(?:answers? |repl(?:y|ies) |responses? |messages? )?with (?:the|a"
        r"|an) (?:short |direct |final )?(?:answer|conclusion|result|summary|tl;?dr|bottom line"
        r"|next step|question)\b.*)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.75),
        need=" with ",
    ),
    rule(
        r"(?P<rule>(?:skip|leave out|drop|spare me|omit) (?:the |all |any "
        r"|your )*(?:[\w-]+ )?(?:pep talk|small talk|intro(?:duction)?s?|preamble|pleasantries"
        r"|disclaimers?|apologies|flattery|boilerplate|caveats|fluff|recap|lecture)\b.*)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.75),
    ),
    rule(
        r"(?P<rule>no (?:more )?(?:emojis?|fluff|small talk|bullet points|bullets|apologies|preamble"
        r"|jargon|filler|exclamation marks|exclamation points|disclaimers|markdown|tables|spoilers"
        r"|flattery|pleasantries|comments in code|em-?dashes)\b.*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.8),
    ),
    rule(
        r"(?P<rule>(?:use|prefer|stick to|give me) (?:metric|imperial|celsius|fahrenheit|british"
        r"|american|24-hour|iso dates?|kilometres|kilometers|plain english|simple language"
        r"|plain language)\b.*)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.8),
    ),
    rule(
        r"(?P<rule>(?:write|use|keep) (?:all |your |my |the )*(?:commit messages|commits|docstrings"
        r"|comments|variable names|test names|pr descriptions|changelog entries|branch names) .+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.7),
    ),
    rule(
        rf"(?P<rule>(?:you can |you may |just )?(?:call|address) me (?:as |by )?(?P<name>{NAME}).*)",
        Says("feedback", "form of address", "Call the user {name}", subject="assistant", confidence=0.85),
        need="call|address",
    ),
    rule(
        r"(?P<rule>(?:i|i'd) (?:really )?(?:hate|don't like|dislike|can't stand|love|like|appreciate"
        r"|prefer|find it (?:annoying|helpful|useful)) (?:it )?(?:when|if) you (?!guys|and\b|two\b"
        r"|\w+ed\b).+)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.75),
        need=" you ",
    ),
    rule(
        r"(?P<rule>you (?:don't need|don't have|needn't|do not need) (?:to )?(?:apologi[sz]e|explain"
        r"|repeat|ask|summari[sz]e|remind|warn|thank|add|include|restate)\b.+)",
        Says("feedback", "", "{rule}", subject="assistant", confidence=0.7),
    ),
)  # fmt: skip

_POINTERS: Final[tuple[Rule, ...]] = (
    rule(
        r"(?P<rest>(?:the|my|our) (?P<what>(?:spare |front door |house |car |office |garage |shed "
        r"|bike )*(?:keys?|passport|birth certificate|insurance papers|charger|first aid kit|toolbox"
        r"|fuse box|stopcock|router|luggage)) (?:is|are|lives?)(?: kept| now)? (?:with|at|in|under"
        r"|behind|on) (?!the (?:code|file|way)\b|fire\b|order\b|it\b|you\b).+)",
        Says("user", "where is {what}", "{rest}", confidence=0.75),
    ),
    rule(
        rf"(?:the |our |my |all (?:our |the )?"
        rf"|its )?(?P<what>[\w' -]{{0,40}}?\b{_MATERIAL})(?: for [\w' -]{{2,40}}?)?(?: is| are|'s"
        rf"| lives?| live| sits?| can be found| is kept| are kept| is documented| are documented"
        rf"| is hosted| are hosted| is stored| are stored| moved)(?: now| all)?(?: at| in| on| under"
        rf"| to| here)?:? (?P<where>{_URL}|#[\w-]+|{_PATH}|{_SYSTEM})",
        Says("reference", "where is {what}", "{what}: {where}", subject="project", confidence=0.85),
    ),
    rule(
        rf"(?:here(?:'s| is) )?(?:the |our "
        rf"|my )(?P<what>[\w' -]{{0,40}}?\b{_MATERIAL})(?: for [\w' -]{{2,40}}?)?: ?(?P<where>{_URL})",
        Says("reference", "where is {what}", "{what}: {where}", subject="project", confidence=0.8),
        need="http|www",
    ),
    rule(
        rf"(?P<rest>(?:we|you'll|you can) (?:keep|store|track|document|put|find|file)s? (?:all |the "
        rf"|our |my |your )*(?P<what>[\w' -]{{2,40}}?) (?:in|at|on|under) (?P<where>{_URL}|#[\w-]+"
        rf"|{_PATH}|{_SYSTEM}))",
        Says("reference", "where is {what}", "{what}: {where}", subject="project", confidence=0.75),
    ),
)  # fmt: skip

_TIME_OFF: Final = (
    r"(?:on |out on )?(?:annual |paid |sick |parental |maternity |paternity |summer )?(?:vacation|holidays?"
    r"|leave|sabbatical|pto|honeymoon)|off work|out of (?:the )?office"
    r"|away(?! from (?:my|the (?!\d)|an?|home|work|it)\b)"
)

_EVENTS: Final[tuple[Rule, ...]] = (
    rule(
        rf"(?:{_AM}|i'll be|i will be) {_ADV}(?P<plan>(?:{_TIME_OFF})\b.*)",
        Says("user", "", "Is {plan}{when}", confidence=0.75, event=True, past=False),
    ),
    rule(
        rf"(?P<plan>my (?:{_TIME_OFF}) (?:is|runs|lasts|goes|starts)\b.*)",
        Says("user", "", "{plan}", confidence=0.75, event=True, past=False),
        need="my ",
    ),
    rule(
        rf"(?P<plan>the (?:[\w'-]+ ){{0,3}}?(?:{_EVENT})(?: (?:with|for|of|at) (?:[\w'&-]+ ){{0,4}}?[\w'&-]+)?"
        rf"(?: is| are|'s| will be| takes place| has been moved to| got moved to| moved to)"
        rf"(?: (?:on|in|at|from|now|set for|scheduled for|planned for))* (?:the )?(?:\d|next|this|tomorrow"
        rf"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tues|wednes|thurs|fri|satur|sun)\w*).*)",
        Says("episodic", "", "{plan}", confidence=0.75, event=True, past=False),
        need="the ",
    ),
    rule(
        r"(?:i've|i have|we've|we have) (?:just |finally |recently "
        r"|officially )*been (?P<event>(?:promoted|hired|laid off|accepted|awarded|invited|selected"
        r"|admitted|diagnosed|elected)\b.*)",
        Says("episodic", "", "Was {event}{when}", confidence=0.8, priority=MILESTONE),
        need="been",
    ),
    rule(
        r"(?:i|we)(?:'ve| have)? (?:just |finally |recently |officially |also "
        r"|actually )*(?P<event>(?:got|was|were|became|been|get) (?:promoted|married|engaged"
        r"|divorced|laid off|hired|pregnant|accepted (?:into|to|at|by)|awarded|a (?:promotion|puppy"
        r"|kitten|dog|cat|baby|new job|new car|raise))\b.*"
        r"|adopted (?:a|an|two|our|my) .+|bought (?:a|an|our|my) (?:\w+ ){0,2}(?:house|flat"
        r"|apartment|car|boat|van|bike|piano|guitar|cottage|farm)\b.*|graduated\b.*|passed (?:my"
        r"|the) .+|won (?:a|an|the|my|our|first|second|third) .+|had (?:a|our|my) (?:\w+ )?(?:baby"
        r"|daughter|son|surgery|operation|miscarriage)\b.*"
        r"|broke (?:my|a) (?:\w+ )?(?:arm|leg|wrist|ankle|foot|hand|finger|toe|collarbone|rib"
        r"|nose)\b.*|lost my (?:job|mother|mom|mum|father|dad|dog|cat|husband|wife|brother|sister"
        r"|grandmother|grandfather)\b.*|finished (?:my|a|the) (?:\w+ )?(?:degree|thesis|dissertation"
        r"|novel|book|marathon|course|training|apprenticeship|phd|master's)\b.*"
        r"|(?:opened|started|founded|launched) (?:a|an|my|our) (?:own )?(?:[\w-]+ ){0,2}(?:business"
        r"|company|shop|store|studio|bakery|café|cafe|restaurant|blog|podcast|channel|charity|garden"
        r"|club)\b.*|signed (?:a|the|my|our) (?:\w+ )?(?:lease|contract|deal)\b.*|published (?:a|my"
        r"|our) .+|ran (?:a|my|the) (?:\w+ ){0,2}(?:marathon|half marathon|race|5k|10k)\b.*"
        r"|quit (?:my job|smoking|drinking)\b.*|retired\b.*|started (?:therapy|university|college"
        r"|school|dating)\b.*)",
        Says("episodic", "", "{event}{when}", confidence=0.8, priority=MILESTONE),
    ),
    rule(
        rf"(?P<who>(?:my|our) (?:{RELATIVE})(?:,? {NAME},?)?) (?:just |sadly "
        rf"|recently )*(?P<event>(?:passed away|died|got (?:married|engaged|promoted|divorced)"
        rf"|was born|gave birth|graduated|had (?:a|her|his|their) .+)\b.*)",
        Says("episodic", "", "{who} {event}{when}", confidence=0.8, priority=MILESTONE),
    ),
    rule(
        rf"(?:i|we)(?:'ve| have)? recently (?P<event>{PAST}\b.*)",
        Says("episodic", "", "{event}", confidence=0.7),
        need="recently",
    ),
    rule(
        rf"(?:i|we)(?:'ve| have)? (?:just |finally |recently |also |actually |even "
        rf"|only )*(?P<event>{PAST}\b.*)",
        Says("episodic", "", "{event}{when}", confidence=0.75, event=True),
    ),
    rule(
        rf"(?P<who>(?:my|our) (?:{RELATIVE})(?:,? {NAME},?)?(?: and i)?) (?:just |finally |recently "
        rf"|also )*(?P<event>{PAST}\b.*)",
        Says("episodic", "", "{who} {event}{when}", confidence=0.7, event=True),
    ),
    rule(
        r"(?P<event>(?:twisted|sprained|hurt|fell|ate|spent|gave|saw|went|met|had|got|bought|took"
        r"|visited|finished|started|attended|moved|ran"
        r"|won|lost|found|made|booked|signed|watched|picked up|came|flew|drove|cooked|baked|adopted"
        r"|hiked|celebrated|tried|passed|joined|quit|hosted|planted|climbed|sold|broke"
        r"|heard back) (?:the|a|an|my|our|to|with|at|in|on|for|from|off|out|up)\b.*)",
        Says("episodic", "", "{event}{when}", confidence=0.7, event=True),
    ),
    rule(
        rf"(?:{_AM}|we're|we are|i'll be|we'll be) {_ADV}(?P<plan>(?:{_COMING})\b.*)",
        Says("episodic", "", "Is {plan}{when}", confidence=0.75, event=True, past=False),
    ),
    rule(
        rf"(?:i have|i've got|we have|we've got|there's|there is) (?P<plan>(?:an?|my|our"
        rf"|the) (?:[\w'-]+ ){{0,4}}?(?:{_EVENT})\b.*)",
        Says("episodic", "", "Has {plan}{when}", confidence=0.75, event=True, past=False),
    ),
    rule(
        rf"(?P<plan>(?:my|our) (?:[\w'-]+ ){{0,4}}?(?:{_EVENT})(?: is| are|'s| will be"
        rf"| has been moved to| got moved to| starts?| takes place| with [\w ]+ is)\b.*)",
        Says("episodic", "", "{plan}", confidence=0.75, event=True, past=False),
    ),
)  # fmt: skip

_BEGINNINGS: Final[tuple[Rule, ...]] = (
    rule(
        r"i(?:'ve| have)? (?:just |recently |finally |now )*(?P<act>started|begun|taken up|took up"
        r"|signed up for|enrolled in|joined)"
        r" (?P<doing>(?:an? (?:[\w-]+ ){0,3}(?:course|class|choir|club|gym|band|team|league"
        r"|program(?:me)?|group|lessons)|learning|taking|playing|doing yoga"
        r"|(?:[\w-]+ ){0,2}lessons)\b.*)",
        Says("user", "", "{act} {doing}", confidence=0.75),
        need="started|begun|taken up|took up|signed up|enrolled|joined",
    ),
)

REMEMBERED: Final[tuple[Rule, ...]] = (
    rule(
        rf"to (?P<rule>(?:always |never |only |not )?(?:{_IMPERATIVE})\b.+)",
        Says("feedback", "@conduct", "{rule}", subject="assistant", confidence=0.7),
    ),
    rule(
        rf"(?P<fact>.*(?:{_URL}).*)",
        Says("reference", "", "{fact}", confidence=0.75),
        need="http|www",
    ),
    rule(
        rf"(?P<fact>(?!to\b|you\b|if\b).*\b(?:(?:our|the|this) (?:[\w-]+ )?{_PROJECT}"
        rf"|we (?:{_TEAM_VERB})|staging|production|the (?:build|tests?|release|deploy\w*))\b.*)",
        Says("project", "", "{fact}", subject="project", confidence=0.75),
    ),
    rule(
        r"i (?P<verb>(?:\w+ly |always |never )?[a-z']+) (?P<rest>.+)",
        Says("user", "", "{verb} {rest}", confidence=0.8),
    ),
    rule(
        r"(?:i'm|i am) (?P<rest>.+)",
        Says("user", "", "Is {rest}", confidence=0.8),
    ),
    rule(
        r"(?P<fact>(?!to\b|what\b|how\b|when we\b|it\b|every|each|life\b|you\b|your\b|there\b|this\b"
        r"|that\b|nothing\b|no one\b|we\b|us\b|always\b|never\b|be\b|not\b|if\b)(?!.*\b(?:you|your"
        r"|yourself|we|this|that)\b)\S+ .*\b(?:is|are|was|were|has|have|needs?|lives?|starts?|ends?"
        r"|opens?|closes?|goes|works?|wants?|likes?|hates?|can't|must|owns?|belongs?|comes?|leaves?"
        r"|runs?|keeps?|prefers?)\b.*)",
        Says("user", "", "{fact}", confidence=0.8),
    ),
)  # fmt: skip

RULES: Final[tuple[Rule, ...]] = (
    *_CONDUCT,
    *_IDENTITY,
    *_PEOPLE,
    *_LIKINGS,
    *_HABITS,
    *_POINTERS,
    *_PROJECTS,
    *_EVENTS,
    *_BEGINNINGS,
)

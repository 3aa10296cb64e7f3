"""English words the rules need: persons and verbs turned around, past tenses, names, trades."""

from __future__ import annotations

import re
from typing import Final

from memstrata.domain.lazy import Regex

NAME: Final = r"(?-i:[A-Z][a-zà-ÿ'’A-Z-]*[a-zà-ÿ](?: [A-Z][a-zà-ÿ'’A-Z-]*[a-zà-ÿ]){0,2})"
PROPER: Final = (
    r"(?-i:[A-Z0-9][\w'’&.+-]*(?: (?:(?:of|the|de|da|do|van|von|der|la|le|upon"
    r"|&) ){0,2}[A-Z0-9][\w'’&.+-]*){0,4})"
)
PLACE: Final = (
    r"(?:(?:an?|the) (?:[a-z]+ ){0,2}(?:village|town|city|suburb|flat|house|apartment|farm"
    r"|cottage|island|area|part)"
    r" (?:called |named )?(?:(?:just )?(?:in|near|outside|of|on) )?)?(?:the )?"
    rf"{PROPER}(?:, {PROPER})?"
)
ORG: Final = (
    rf"(?:the )?(?:{PROPER}|(?:an?|the|my)(?: [\w-]+){{0,4}} (?:company|startup|start-up|agency|hospital|school"
    r"|university|bank|firm|shop|studio|practice|clinic|lab|restaurant|bakery|café|cafe|ngo|charity|nonprofit"
    rf"|non-profit|museum|library|factory|newspaper|consultancy|council|warehouse)(?: (?:in|near"
    rf"|called) {PROPER})?)"
)

_TRADES: Final = (
    "accountant|actor|actress|administrator|advisor|analyst|architect|artist|assistant|attorney|author|baker"
    "|barista|bartender|biologist|bookkeeper|builder|carpenter|chef|chemist|coach|composer"
        "|consultant|contractor"
    "|cook|copywriter|counsellor|counselor|dancer|dentist|designer|dev|developer|director"
        "|doctor|driver|economist"
    "|editor|electrician|engineer|entrepreneur|farmer|filmmaker|firefighter|florist|founder|freelancer|gardener"
    "|geologist|historian|hairdresser|illustrator|instructor|intern|interpreter|investor|journalist|lawyer"
    "|lecturer|librarian|manager|marketer|marketing lead|mathematician|mechanic|midwife|musician|nurse|officer"
    "|owner|painter|paralegal|paramedic|pharmacist|photographer|physician|physicist"
        "|physiotherapist|pilot|plumber"
    "|poet|policeman|postdoc|potter|producer|professor|programmer|psychologist|realtor|receptionist|recruiter"
    "|researcher|salesperson|scientist|secretary|singer|social worker|solicitor|statistician|student|surgeon"
    "|teacher|team lead|tech lead|technician|therapist|trader|trainer|translator|tutor|vet|veterinarian|waiter"
    "|waitress|welder|writer|data engineer|sre|cto|ceo|cfo|coo|product owner|scrum master"
        "|sysadmin|tailor|technologist"
)  # fmt: skip
JOB: Final = (
    rf"(?:(?!of\b|the\b|that\b|who\b|to\b|fan\b|not\b|like\b"
    rf"|if\b)[\w/+#.-]+ ){{0,4}}?(?:{_TRADES})(?! of the| who)\b"
    rf"(?: and (?:an? )?(?:[\w-]+ ){{0,2}}(?:{_TRADES})\b)?"
)

_RELATIVES: Final = (
    "sister|brother|mother|mom|mum|father|dad|wife|husband|partner|girlfriend|boyfriend"
    "|fiancée?|fiancee|spouse|son"
    "|daughter|kid|child|kids|children|cousin|aunt|uncle|grandma|grandmother|grandpa|grandfather|niece|nephew"
    "|grandson|granddaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law|parents|sons|daughters"
    "|twins|stepson|stepdaughter|stepmother|stepfather|godson|goddaughter|granny|nan"
)
_FRIENDS: Final = (
    "friend|best friend|boss|manager|colleague|coworker|co-worker|roommate|flatmate|housemate|neighbou?r"
    "|landlord|therapist|teacher|mentor|supervisor|team lead|doctor|dentist"
)
PETS: Final = (
    "dog|cat|puppy|kitten|parrot|hamster|rabbit|horse|tortoise|turtle|guinea pig|goldfish|budgie|snake|gecko"
    "|chicken|terrier|labrador|greyhound|beagle|corgi|poodle|retriever|spaniel|pony|goat|ferret"
)
RELATIVE: Final = (
    rf"(?:(?:older|younger|elder|little|big|twin|eldest|oldest|youngest|middle|late|step|half|ex-?|new) ?-?)?"
    rf"(?:{_RELATIVES}|{_FRIENDS}|{PETS})"
)
CONDITION: Final = (
    r"(?:type (?:1|2|one|two) )?diabetes|asthma|migraines?|coeliac(?: disease)?"
    r"|celiac(?: disease)?|hypertension"
    r"|high blood pressure|low blood pressure|adhd|autism|dyslexia|epilepsy|arthritis|eczema"
    r"|psoriasis|ibs|crohn's(?: disease)?"
    r"|anxiety|depression|insomnia|tinnitus|back (?:pain|problems)|hay fever|ana?emia"
    r"|hypothyroidism|endometriosis"
    r"|an? (?:bad|weak|herniated|injured) (?:knee|back|disc|shoulder|hip|ankle|wrist)|bad knees"
    r"|scoliosis|vertigo|sleep apn(?:o)?ea"
    r"|high cholesterol|a heart condition|a stutter|rsi|carpal tunnel(?: syndrome)?|gout|lupus"
    r"|long covid|fibromyalgia"
)
TRAIT: Final = (
    r"(?:an? )?(?:early bird|night owl|morning person|introvert|extrovert|native speaker|single (?:mom|mum|dad"
    r"|mother|father|parent)|stay-at-home (?:mom|mum|dad|parent)|new (?:mom|mum|dad|parent)|night person"
    r"|(?:dog|cat|people|coffee|tea|visual|book) (?:person|lover|learner)|picky eater|lefty"
    r"|perfectionist|bookworm"
    r"|vet(?:eran)?|trans(?:gender)? (?:woman|man)|non-?binary|widow(?:er)?|foodie|minimalist"
    r"|runner|cyclist|climber)"
    r"|left-handed|right-handed|self-taught|bilingual|trilingual"
)
DISABILITY: Final = (
    r"colou?r[- ]?blind|deaf|hard of hearing|blind|short-sighted|near-sighted|diabetic|asthmatic"
    r"|dyslexic|autistic"
    r"|epileptic|(?:lactose|gluten)[- ]intolerant|coeliac|celiac|an insulin-dependent diabetic"
    r"|wheelchair[- ]bound"
    r"|a wheelchair user|a diabetic"
)
DIET: Final = (
    r"(?:an? )?(?:strict |mostly |lifelong )?(?:vegetarian|vegan|pescatarian|flexitarian"
    r"|fruitarian|teetotal(?:ler)?|gluten-free"
    r"|dairy-free|sober|keto|halal|kosher)"
)
LANGUAGE: Final = r"(?-i:[A-Z][a-z]+(?: Sign Language)?)"
GROUP_HABITS: Final = r"every|each|on|in the|most|twice|once|three times|daily|weekly"

_IRREGULAR_PAST: Final = (
    "went|saw|met|had|got|bought|took|made|gave|ran|won|lost|found|became|began|broke|brought"
    "|built|caught|chose"
    "|came|drove|ate|fell|flew|grew|held|kept|left|learned|learnt|lent|paid|quit|read|rode|sang|sold|sent|slept"
    "|spent|spoke|stood|swam|taught|threw|wore|wrote|hurt|hit|cut|put|set|led|beat|drank|drew|fed|fought|hung"
    "|rang|shot|shut|sat|stole|struck|woke|heard|hosted|dyed|baked"
)
_NO_EVENT: Final = (
    "said|thought|needed|wanted|noticed|tried|used|asked|mentioned|decided|liked|loved|hoped|realised|realized"
    "|wondered|guessed|tested|fixed|pushed|committed|merged|updated|upgraded|changed|edited|replied|answered"
    "|indeed|remembered|archived|retrieved|accessed|posted|born|need|feed|speed|seed|told|meant"
    "|talked about|copied|pasted|uploaded|asked|installed|opened|searched"
)
PAST: Final = rf"(?!(?:{_NO_EVENT})\b)(?:{_IRREGULAR_PAST}|[a-z-]{{3,}}ed)"

_THIRD: Final = {
    "am": "is", "are": "is", "have": "has", "do": "does", "go": "goes", "don't": "doesn't", "haven't": "hasn't",
    "aren't": "isn't", "can": "can", "can't": "can't", "cannot": "cannot", "will": "will", "won't": "won't",
    "must": "must", "should": "should", "was": "was", "were": "was", "did": "did", "didn't": "didn't",
    "has": "has", "is": "is", "had": "had", "need": "needs", "used": "used", "only": "only",
}  # fmt: skip
_ADVERB: Final = Regex(
    r"(?:always|usually|normally|typically|generally|mostly|often|never|rarely|also|only|still"
    r"|sometimes|now|just|all"
    r"|mainly|currently|already|no|longer|not|both|recently|finally)$",
    re.IGNORECASE,
)
_TURN: Final = {
    "my": "their", "mine": "theirs", "me": "them", "myself": "themselves", "our": "their", "ours": "theirs",
    "us": "them", "ourselves": "themselves",
}  # fmt: skip
_FIRST_PERSON: Final = Regex(
    r"\b(?:my|mine|me|myself|our|ours|us|ourselves)\b(?![-/.])", re.IGNORECASE
)
_OUR: Final = Regex(r"\bour\b", re.IGNORECASE)
_I: Final = (
    (Regex(r"\bI(?:'m| am)\b"), "they are"),
    (Regex(r"\bI've\b"), "they have"),
    (Regex(r"\bI'd\b"), "they would"),
    (Regex(r"\bI'll\b"), "they will"),
    (Regex(r"\bI was\b"), "they were"),
    (Regex(r"\bI\b(?![./-])"), "they"),
    (Regex(r"\b[Ww]e(?:'re| are)\b"), "they are"),
    (Regex(r"\b[Ww]e've\b"), "they have"),
    (Regex(r"\b[Ww]e'll\b"), "they will"),
    (Regex(r"\b[Ww]e\b"), "they"),
)
_QUOTED: Final = Regex(r"""((?<!\w)'[^']{2,80}'(?!\w)|"[^"]{2,80}"|“[^”]{2,80}”)""")
_APOSTROPHE: Final = str.maketrans({"’": "'", "‘": "'"})


def straight(text: str) -> str:
    """`text` with typographic apostrophes made plain, equally long."""
    return text.translate(_APOSTROPHE)


def turned(text: str) -> str:
    """First person made third: "my flat" → "their flat", "I was" → "they were". "US" stays the country."""
    if _QUOTED.search(text):
        # A title keeps its own words.
        pieces = _QUOTED.split(text)
        return "".join(piece if index % 2 else turned(piece) for index, piece in enumerate(pieces))
    found = _FIRST_PERSON.sub(_turned_word, text)
    if "I" in found or "we" in found or "We" in found:
        for pattern, other in _I:
            found = pattern.sub(other, found)
    return found


def of_project(text: str) -> str:
    """`turned`, where "our" is the project's own: "our API" → "the API"."""
    return turned(_OUR.sub("the", text))


def _turned_word(match: re.Match[str]) -> str:
    return match[0] if match[0] == "US" else _TURN[match[0].lower()]


def third(phrase: str) -> str:
    """A verb phrase of "I" or "we" in the third person: "always use tabs" → "always uses tabs"."""
    words = phrase.split(" ")
    for index, word in enumerate(words):
        if not _ADVERB.match(word):
            words[index] = _third_verb(word)
            return " ".join(words)
    return " ".join(words)


def _third_verb(verb: str) -> str:
    lowered = verb.lower()
    if lowered in _THIRD:
        return _THIRD[lowered]
    if (
        re.fullmatch(rf"(?:{_IRREGULAR_PAST}|[a-z-]{{3,}}ed|[a-z]+ing)", lowered)
        and lowered not in _ROOTS
    ):
        return verb
    if re.search(r"(?:s|x|z|ch|sh)$", lowered):
        return verb + "es"
    if re.search(r"[^aeiou]y$", lowered):
        return verb[:-1] + "ies"
    return verb + "s"


_ROOTS: Final = frozenset(
    ("read", "put", "set", "cut", "hit", "hurt", "quit", "need", "feed", "bring", "sing", "shut")
)


def capitalised(text: str) -> str:
    """`text` with its first letter upper case, unless its first word is a name of mixed case ("pnpm" is not)."""
    return text[:1].upper() + text[1:] if text else text

"""How English is read: what is passed over, where clauses end, how values are taken."""

from __future__ import annotations

import re
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.rules import slots
from memstrata.domain.rules.english_rules import REMEMBERED, RULES
from memstrata.domain.rules.reading import Check, Language
from memstrata.domain.rules.words import of_project, straight, third, turned

_OTHER: Final = Regex(
    r"^(?:(?:so|and|but|ok|okay|well|hey|hi|hmm|also|then|now),? )*(?:"
    r"(?:do|does|did|is|are|was|were|am|can|could|will|would|should|shall|may|might|has|had"
        r"|isn't|aren't|don't (?:you|i|we)|doesn't|didn't|won't|can't|wouldn't"
    r"|which|who|whom|whose|why|what|what's|whats|where|where's|how|how's|any|anyone|have you"
        r"|have i|have we|has anyone)\b(?! me\b)"
    r"|when (?:do|does|did|is|are|was|were|will|would|should|can)\b"
    r"|(?:if|suppose|supposing|imagine|pretend|assume|assuming|let's say|let's pretend|say i"
        r"|what if|had i|were i|in case|unless|hypothetically|as if|once upon)\b(?! you\b)"
    r"|(?:oh,? (?:great|sure|yeah|wonderful|lovely|fantastic|perfect)|yeah,? (?:right|sure))\b)"
    r"|\b(?:just|really|simply) (?:love|adore) (?:it )?(?:when|how)\b|(?:^| )/s$|\bnot\.$",
    re.IGNORECASE,
)  # fmt: skip
_POLITE: Final = Regex(
    r"^(?:please |and |also )*(?:can|could|would|will) you (?:please |maybe |just )*"
    r"(?:always|never|stop|keep your|call me|avoid|from now|only|remember|make a note"
    r"|keep in mind|memori[sz]e|save this)\b",
    re.IGNORECASE,
)
_BARE: Final = (
    r"(?:(?:also|really|always|usually|mostly|currently|now|never|still|just|mainly"
    r"|absolutely) )?(?:work|live|play|love|hate|like|prefer|speak|enjoy|use|study|collect|can't"
    r"|don't|moved (?:back )?to|go(?= out)|teach|volunteer|own|drive|grew up|grow)\b"
)
_BARE_VERB: Final = Regex(_BARE, re.IGNORECASE)
_CLAUSE: Final = Regex(
    r"(?:,|\s[–—-])? (?:but|and|so|however),? (?=(?:i|i'm|i've|i'd|we|we're|we've|my|our|please"
        r"|now|today|also|then|can|could|what|how|do|don't|never|always|she|he|they|it)\b)"
    r"|, (?=(?:i|i'm|i've|i'd|we|we're|we've|my|our|please|but|so|can|could|what|how|do you|does"
        r"|which|is there|are there|any|now|today|don't|never|always|keep|call me|ask|he's|she's"
        r"|(?:with )?(?:\d|two|three|four) (?:kids|children|sons|daughters|dogs|cats)"
        r"|it's|and|thanks|though|because of)\b)"
    r"|,? with (?=(?:\d|two|three|four) (?:kids|children|sons|daughters|dogs|cats)\b)"
    r"|\s[–—]+\s|\s-\s|: (?=i\b|i'm\b|we\b|my\b|since\b|now\b|as of\b|from\b)"
    r"|,? (?:and|but) (?=(?:the|our) (?:youngest|oldest|eldest|older|younger|other)\b)"
    rf"|,? (?:and|but) (?={_BARE})|, (?=(?:moved|love|hate|prefer|speak|can't|live)\b)",
    re.IGNORECASE,
)  # fmt: skip
_LEAD: Final = Regex(
    r"(?:(?:(?P<greet>hi|hello|hey|good (?:morning|evening|afternoon))|(?:thanks|thank you|dear|wow|cool"
        r"|awesome|great|nice|sure|right|perfect|ok|okay|haha|hmm))(?:,? (?:there|all|again|everyone"
        r"|(?-i:[A-Z][a-z]+)))?(?:[,!.:]+ ?| ?[–—-] | (?=i'm\b|i am\b|my\b|i\b))"
    r"|(?:well|so|oh|ah|also|and|but|btw|by the way|anyway|actually|honestly|personally|fyi"
        r"|just so you know|just fyi|for context|some context|context|for the record|to be honest"
        r"|tbh|to be fair|generally|as for me|for me|plus|besides|oh and|one more thing"
    r"|as i (?:said|mentioned)|like i said|i told you(?: before| already)?|as you know"
        r"|a bit about me|about me|some background|fun fact|for what it's worth|fwiw|unfortunately"
        r"|fortunately|luckily|sadly|turns out|it turns out|nowadays|these days|currently"
    r"|now|at work|at home|in my (?:free|spare) time|then|first of all|finally|lastly|meanwhile"
        r"|since then|guess what|you know|basically|again|in fact|just|anyways|ps|p\.s\."
        r"|the thing is|for (?:this|our|the) (?:project|repo|repository|codebase|service|team)"
        r"|in (?:this|our|the) (?:project|repo|repository|codebase|service|team)|on (?:this"
        r"|our) (?:project|team)"
    r"|let me tell you(?: that)?|you should know(?: that)?|i should (?:mention|say"
        r"|add)(?: that)?|i forgot to (?:mention|say)(?: that)?|did i mention(?: that)?"
        r"|i want you to know(?: that)?|i can tell you(?: that)?|i have to say(?: that)?"
        r"|i must (?:say|admit)(?: that)?|i realized(?: that)?|it's worth knowing that|works for me"
        r"|sounds good)(?:[,:;!]+ ?| - | – | — | )"
    r"|(?:yes|yeah|yep|no|nope|see|look|listen|(?:quick |small )?note|(?:quick |small )?update"
        r"|first(?:ly)?|second(?:ly)?|background|some context|context|correction|(?:good |big "
        r"|great )?news|heads up|important|reminder|quick intro|intro)(?:[,:;!.]+ ?| [–—-] )"
    r"|(?:(?:(?:just )?(?:a|one|two|three|some|another|my) )?(?:more |last |other |quick |small |short "
        r"|general |standing |ground |house |personal |little |few )*(?:one|things?|requests?|asks?"
        r"|favou?rs?|rules?|preferences?|remarks?|words?|points?|housekeeping|heads-up)"
        r"|(?:before|while|since) (?:we|i|you)(?:'re|'m| are| am)? (?:start|begin|go on|continue|dive in|get"
        r" (?:started|going|into it)|at it|answer|forget|move on|proceed)(?: (?:here|anything|today))?"
        r"|for next time|to (?:start|begin) with|first off|up front|in short|so you know"
        r"|while i (?:remember|think of it))(?:[,:;!]+ ?| [–—-] )"
    r"|(?P<hedge>i think|i guess|i suppose|i believe|i feel like|maybe|probably|perhaps"
        r"|i'm not sure but|not sure but|possibly|apparently)(?: that)?(?:,)? "
    r"|(?P<remember>(?:(?:can|could|will|would) you )?(?:please |do |always |just )*(?:remember"
        r"|keep in mind|bear in mind|make a note|don't forget|take note|memori[sz]e"
        r"|for future reference|for later|save this|note down|note to self|store this"
        r"|add to (?:your )?memory)(?:(?: of this| this)?(?: that|:|,| -)| (?=i\b|i'm|my\b|we\b"
        r"|our\b|the\b|to\b)) ?)"
    r"|(?:please )?note that |(?:can|could|would|will) you (?:please |maybe )?(?=always|never"
        r"|stop|keep your|call me|avoid|from now|only)"
    r"|(?:please|pls|kindly),? "
    r"|(?P<when>(?:today|yesterday|tomorrow|tonight|this (?:morning|afternoon|evening|week"
        r"|weekend|month|year)|(?:last|next|this past|this coming) (?:night|week|weekend|month|year"
        r"|\w+day|spring|summer|fall|autumn|winter|january|february|march|april|may|june|july|august"
        r"|september|october|november|december)"
    r"|(?:\w+|a couple of|a few) (?:days?|weeks?|months?|years?) ago|in \d{4}|in (?:january"
        r"|february|march|april|may|june|july|august|september|october|november|december)(?: \d{4})?"
        r"|on (?:\w+day|\d{1,2}(?:st|nd|rd|th)? \w+|\w+ \d{1,2}(?:st|nd|rd|th)?)(?: \d{4})?"
        r"|since (?:the )?\w+(?: \w+)?(?:,? \d{4})?|as of [\w-]+|from (?:next |this )?\w+day(?: on)?|starting (?:next "
        r"|this )?\w+|in (?:\w+) (?:days|weeks|months)),? )(?=i\b|i'm|i'll|we\b|we're|we'll|my\b"
        r"|our\b))",
    re.IGNORECASE,
)  # fmt: skip
_MUTE: Final = Regex(
    r"\b(?:might|wouldn't|could(?! you)|may (?=have|be|need|want|not|try|move|switch|use|go|get"
        r"|also|become)|wish|hopefully|someday|one day|would (?!rather|prefer)|what if|as if"
        r"|supposed to|whether|pretend|imagine)\b"
    r"|^(?!(?:please |in (?:the )?future|from now on|going forward|always |never )).*"
        r"\b(?:error|exception|traceback|stack trace)\b"
    r"|\bi'd (?!(?:much |really |always )?(?:rather|prefer)|love to (?:become|learn|run|write"
        r"|start|open)|like you|appreciate)|\bi'll\b(?! be\b| start| join)"
    r"|^(?:if|unless|when|because|since(?! )|while|although|though|can|could|would|what|how|is"
        r"|are|does|did)\b(?! you\b)|^do you\b",
    re.IGNORECASE,
)  # fmt: skip
_STOP: Final = Regex(
    r"\b(?:said|says|saying|(?<!i )told (?:me|us|him|her)|tells (?:me|us)|claims?|claimed"
        r"|according to|wrote|writes that|quotes?|i (?:read|heard|saw) (?:that|somewhere)|they say"
        r"|people say|(?:she|he|they) (?:think|thinks|believes?)|the (?:article|book|post|docs?|blog"
        r"|comment|linter|error|log|message|customer|client) (?:says?|reads?|suggests?|claims?"
        r"|states?|recommends?))\b(?<!i said)(?<!i say)",
    re.IGNORECASE,
)  # fmt: skip
_HANDED: Final = Regex(
    r"\b(?:translate|proofread|paraphrase|rephrase|rewrite|reword|summari[sz]e|correct|edit"
        r"|improve|polish|analy[sz]e|classify|fix the (?:grammar|text)|continue|complete) "
    r"(?:this|the following|these|my|the|below|it)\b|\b(?:write|draft|compose|create|make up"
        r"|tell|generate|give) (?:me |us )?(?:an?|the|some|\d+|two|three) (?:[\w-]+ ){0,4}"
    r"(?:story|stories|poem|song|letter|e-?mail|essay|dialogue|scene|monologue|bio|cover letter"
        r"|script|speech|persona|character|tweet|post|introduction|review|message|sentences?"
        r"|paragraph|example)\b"
    r"|\b(?:act as|role-?play|you are (?:an?|the|now)\b|play the role|pretend|in the voice of|narrator)\b",
    re.IGNORECASE,
)  # fmt: skip
_HEDGE: Final = Regex(
    r"\b(?:i think|i guess|not sure|i suppose|probably|perhaps|maybe|sort of|kind of|kinda"
    r"|possibly|if i remember|unless i'm mistaken|afaik|supposedly)\b",
    re.IGNORECASE,
)
_REASON: Final = Regex(
        r"\b(?:because|since (?!\d|last|may\b|june\b|january|february|march|april|july|august"
        r"|september|october|november|december|then)|so that) ?(?P<why>[^.;]{4,200})", re.IGNORECASE)  # fmt: skip

_TAIL: Final = Regex(
    r"(?:,? (?:because|since|so that|so|but|though|although|as (?:it|they|i|we|well|much)|if"
        r"|unless|when|while|whenever|after|before (?!\d)|by the way|btw|you know|i guess|i think"
        r"|lol|haha|too|either|for example|anyway|a lot|very much|so much"
    r"|these days|nowadays|at the moment|right now|now|again|already|and (?:i|i'm|we|he|she|it"
        r"|they|my|you|that|this|so|then|please|their)|which|who|where|anymore|any ?more|any longer"
        r"|especially|for (?:years|now|a long time|ages|as long)|ever since|lately|recently|at all"
        r"|like you|thanks?)\b.*"
    r"|, (?:get|just|please|not|ideally|also|plus|with|as|since|so|but|no|be|do|make|give|go"
        r"|stop|keep|in|at|for|the|if)\b.*|,? ?(?:[–—(:;]|- ).*| [:;]-?[)D(].*)$",
    re.IGNORECASE,
)  # fmt: skip
_ASIDE: Final = Regex(
    r"(?:,? (?:by the way|btw|for example|right now|at the moment|for now|now|too|you know|i guess"
    r"|lol|haha|thanks|thank you|please|ok|okay|right|and it was \w+.*|it was .*"
    r"|which was .*|so .*|but .*|if that's ok)"
    r"|\s+-\s.*|,? ?[(–—].*| [:;]-?[)D(].*)$",
    re.IGNORECASE,
)
_BECAUSE: Final = Regex(
    r",? (?:because|since (?=i|we|it|they|the)|so that|as (?=i|we|it|they) )\b.*$", re.IGNORECASE
)
_NO_EVENT: Final = Regex(
    r"\b(?:you|your|wow)\b|^(?:\S+ )?(?:\S+ )(?:it|this|that|these|them|him|her|one"
    r"|those)\b(?!'s| (?:summer|morning|week|year))|\b(?:about|of|with|for|from|on|to) (?:it"
    r"|this|that|them)\b|\b(?:error|exception|bug|crash(?:ed|es)?|traceback|compil\w+|pip"
    r"|npm install)\b",
    re.IGNORECASE,
)
_VAGUE: Final = Regex(
    r"^(?:it|its|it's|something|anything|someone|somewhere|that|this|these|those|them|him|her"
        r"|you|your|yours|how|what|when|where|who|why|everything|everyone|nothing|both|one|ones|here"
        r"|there|such|another|each|some|a lot|being|getting|knowing|seeing|hearing|talking|not"
        r"|all of|all the|all this|all that"
    r"|to (?:see|hear|know|think|say|be|have|get|thank|ask|meet|help|share|try|do|make|go|keep"
        r"|start|add)\b|an? (?:lot|few|bit|good|great|nice|challenge|change|break|more|quick|new)"
        r"|any|more|most|less|another|part|option|our|my|their|having|working on (?:this|it)|with"
        r"|in the)\b"
    r"|^the (?!beach|sea|mountains|countryside|outdoors|ocean|colou?r|smell|taste|cello|piano"
        r"|guitar|violin|window|aisle|morning|cold|heat|rain|metric|beatles|forest|city|train)"
        r"|\b(?:first|second|third|next|last|same|current|previous) (?:one|option|version|week|idea"
        r"|draft|part)\b|\b(?:idea|suggestion|option|version|draft)s?$|^[#\"'“]|\b(?:you|your|i|i'm"
        r"|i've|we|we've|he|she|they|it|it's|him|her|me|us|them|this|that|these|those|here|above"
        r"|below|yesterday|today|tonight|tomorrow)\b|\d\)|[=<>{}|\\]",
    re.IGNORECASE,
)  # fmt: skip
_NOT_NAME: Final = Regex(
    r"\b(?:your|my|our)\b|(?:ish|ese|ian|ean|less|ing|able|ful|ous)$|^(?:sorry|done|ok|okay|back"
        r"|here|sure|ready|fine|good|great|lost|stuck|happy|glad|not|so|just|new|all|french|dutch"
        r"|greek|swiss|german|czech|thai|catholic|christian|muslim|jewish|monday|tuesday|wednesday"
        r"|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august"
        r"|september|october|november|december|the|this|that|it|he|she|we|they|you|and|but|if|my|our"
        r"|a|an|i|one|everyone|someone|nobody|somebody|who|what|i'm|also|well|mr|mrs|ms|dr|no|yes"
        r"|hey|hi|hello|thanks|please|today|yesterday|python|java|docker|english|chinese|chat"
        r"|assistant|god|u|people|team|management|everybody|legal|finance|marketing|support"
        r"|engineering|security|qa|ops|hr)\b",
    re.IGNORECASE,
)  # fmt: skip
_TECH: Final = Regex(
    r"[A-Za-z]+[A-Z0-9][\w.]*|\b(?-i:[A-Z])\w+|\b\w+[+#/_]\w*|\b[a-z]\w*\.\w+|\d\.\d"
    r"|\b(?:branch(?:es)?|api|repo|tests?|code|commits?|release|releases|components?|migrations?"
        r"|types?|lint|trunk|feature flags?|containers?|pull requests?|prs?|staging|production|main"
        r"|master|semver|monorepo|microservices?|tabs|spaces|imports?|semicolons?|hooks|classes"
        r"|functions|async|threads|rest|graphql|grpc|json|yaml|toml|xml|snake_case|camelcase"
        r"|kebab-case|ci|cd|cron|queue|cache|database|server|cloud|deploy\w*|version(?:s|ing)?"
        r"|dependenc\w+|docs|documentation|code reviews?|trunk-based|standups?|sprints?|issues?"
        r"|tickets?|tags|squash|rebase|conventional|calver|secrets|env(?:ironment)? variables?|logs?"
        r"|metrics|type hints|docstrings|error codes|utc|utf-8|icons|npm|pnpm|yarn|git)\b",
)  # fmt: skip


def _technical(text: str) -> bool:
    """True when `text` names something a project is made of, not a family's car or beach."""
    return _TECH.search(text) is not None or slots.known_tool(text)


_NOT_TOOL: Final = Regex(
    r"^(?:it|this|that|these|those|them|you|to (?:be|see|know|talk|think)|the (?:car|kids|beach"
    r"|park|bus|train)|our (?:house|kids|dog|car))\b|\byou\b",
    re.IGNORECASE,
)

_NO_TRADE: Final = Regex(
    r"^(?:expected|intended|a team|is|it|usual|you|before)\b|\b(?:you|it|that)\b"
)
_NO_SELF: Final = Regex(
    _NOT_NAME.pattern
    + r"|^(?:groot|batman|superman|spartacus|gandalf|yoda|neo|hulk|thor|godzilla|darth"
    r"|iron ?man|spider-?man|captain|king|queen|lord|lady|santa|legend|jesus|satan|chatgpt|siri|alexa)\b",
    re.IGNORECASE,
)
_NO_TOWN: Final = Regex(
    r"\b(?:team|squad|group|department|division|office|desk|floor|plan|tier|account|branch|server|cloud"
    r"|platform|engineering|marketing|sales|product|design|operations|v?\d+(?:\.\d+)*)$"
    r"|^(?:page|chapter|level|step|section|part|plan|version|phase)\b",
    re.IGNORECASE,
)
_NO_TOWN_BEHIND: Final = Regex(
    r"^(?:team|squad|group|department|division|office|org|project|role|position|desk|floor|plan|tier"
    r"|account|branch|editor|for (?:our|the|all|deploy|hosting|ci|chat))\b",
    re.IGNORECASE,
)


def _town(text: str) -> bool:
    """True when `text` may be a place: no product, no address, no part of an office."""
    return not slots.known_tool(text) and not slots.known_choice(text) and "." not in text


def _no_product_behind(text: str) -> bool:
    """False for what follows "moved to Brookline" in "… from Teams"."""
    left = _LEFT_BEHIND.match(text)
    return left is None or _town(left[1])


_LEFT_BEHIND: Final = Regex(r"from ([\w.+#-]*[\w+#])", re.IGNORECASE)
_POSSESSIVE: Final = Regex(r"'s\b.*")

ENGLISH: Final = Language(
    chinese=False,
    rules=RULES,
    remembered=REMEMBERED,
    other=_OTHER,
    clause=_CLAUSE,
    lead=_LEAD,
    mute=_MUTE,
    polite=_POLITE,
    stop=_STOP,
    handed=_HANDED,
    carry=(Regex(r"(?:i|i'm|i've)\b", re.IGNORECASE), _BARE_VERB, "I "),
    hedge=_HEDGE,
    reason=_REASON,
    checks={
        "thing": Check(80, _TAIL, _VAGUE),
        "other": Check(60, _TAIL, _VAGUE),
        "kind": Check(30, None, _VAGUE),
        "food": Check(40, _TAIL, _VAGUE),
        "tail": Check(80, _ASIDE, None),
        "name": Check(60, _POSSESSIVE, _NOT_NAME),
        "self": Check(40, _POSSESSIVE, _NO_SELF),
        "asset": Check(80, _TAIL, Regex(r"^(?:it|this|that|these|those|them|you)\b|\byou\b", re.IGNORECASE)),
        "owner": Check(60, None, _NOT_NAME),
        "org": Check(80, _TAIL, _NOT_NAME),
        "place": Check(80, _TAIL, None),
        "town": Check(80, _TAIL, _NO_TOWN, _town),
        "left": Check(60, _TAIL, _NO_TOWN, _town),
        "behind": Check(80, _ASIDE, _NO_TOWN_BEHIND, _no_product_behind),
        "choice": Check(40, _TAIL, Regex(r"\b(?:this|that|it|you)\b"), slots.known_choice),
        "dropped": Check(40, _TAIL, Regex(r"\b(?:this|that|it|you)\b"), slots.known_choice),
        "topic": Check(40, _TAIL, None, slots.known_topic),
        "first": Check(40, None, None, slots.known_tool),
        "second": Check(40, None, None, slots.known_tool),
        "product": Check(60, None, _NOT_TOOL, slots.known_tool),
        "trade": Check(50, _TAIL, _NO_TRADE),
        "languages": Check(80, _TAIL, None),
        "date": Check(60, _TAIL, None),
        "rest": Check(180, _ASIDE, None),
        "rule": Check(190, _BECAUSE, Regex(r"\bthis time\b.*\bthis time\b")),
        "event": Check(170, _ASIDE, _NO_EVENT),
        "plan": Check(170, _ASIDE, None),
        "fact": Check(190, _ASIDE, None),
        "tool": Check(150, _BECAUSE, _NOT_TOOL, _technical),
        "doing": Check(150, _ASIDE, Regex(r"\b(?:it|this|that)$")),
        "where": Check(150, None, None),
        "what": Check(60, None, Regex(r"^(?:this|that|it)\b")),
    },
    turned=turned,
    # A rule of conduct stays in the person's own words: it is read by the one it was said to.
    persons={"feedback": str, "project": of_project, "reference": of_project},
    verb=third,
    straight=straight,
)  # fmt: skip

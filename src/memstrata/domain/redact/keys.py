"""What has a format of its own: provider keys, private key blocks, JSON Web Tokens."""

from __future__ import annotations

import base64
import json
import re
from typing import Final

from memstrata.domain.lazy import Regex
from memstrata.domain.redact.rule import Check, Rule


def _key(
    kind: str,
    anchors: str,
    body: str,
    check: Check | None = None,
    around: tuple[int, int] | None = None,
) -> Rule:
    pattern = Regex(rf"(?<![A-Za-z0-9])(?:{body})(?![A-Za-z0-9])", re.ASCII)
    return Rule(kind, tuple(anchors.split()), pattern, check, exact=True, around=around)


def _mixed(text: str, match: re.Match[str], value: str) -> bool:
    """Has a digit that does not merely number a name (`sk-fading-circle-12`), or is drawn at length."""
    return (_digit(text, match, value) and not _NAME.fullmatch(value)) or bool(_LONG.search(value))


def _drawn(text: str, match: re.Match[str], value: str) -> bool:
    """Has digits, or both cases in turn, as drawn letters have and names have not."""
    capitals = len(re.findall("[A-Z]", value))
    return _mixed(text, match, value) or 4 <= capitals < len(value) - 4


def _digit(text: str, match: re.Match[str], value: str) -> bool:
    return any(char.isdigit() for char in value)


def _token(text: str, match: re.Match[str], value: str) -> bool:
    """Of mixed case: a timestamp before a hash is of one."""
    tail = value.split(":")[1]
    return tail != tail.lower() and tail != tail.upper() and _digit(text, match, tail)


def _jwt(text: str, match: re.Match[str], value: str) -> bool:
    """Head and claims begin as JSON objects do (RFC 7515, section 3.1), or the head is one."""
    parts = value.split(".")
    return parts[1].startswith("eyJ") or isinstance(_decoded_json(parts[0]), dict)


def _decoded_json(part: str) -> object:
    try:
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        return None


_NAME: Final = Regex(r"[A-Za-z]+(?:[-_.]+[A-Za-z]+)*(?:[-_.]*v?\d{1,5})?")
_LONG: Final = Regex(r"[A-Za-z0-9]{32}")
_HEX: Final = "[0-9a-f]"

_LABEL: Final = r"(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_GAP: Final = r"(?:\s|\\[nr]|[\"'+]){1,20}"
_PEM: Final = Regex(
    rf"-----BEGIN {_LABEL}(?:[^-]|-(?!----)){{0,16000}}-----END {_LABEL}"
    rf"|-----BEGIN {_LABEL}{_GAP}(?:MI|b3Bl|(?=[A-Za-z+/=]{{0,60}}\d))[A-Za-z0-9+/=]{{4,4000}}"
    rf"(?:{_GAP}[A-Za-z0-9+/=]{{16,4000}}){{0,400}}"
)
_PUTTY: Final = Regex(
    r"PuTTY-User-Key-File-\d:(?:[^P]|P(?!uTTY-User|rivate-MAC)){1,16000}(?:Private-MAC: *[0-9a-f]{1,128})?"
)

KEYS: Final = (
    Rule("private-key", ("-----BEGIN ",), _PEM, exact=True),
    Rule("private-key", ("PuTTY-User-Key-File-",), _PUTTY, exact=True),
    _key("age", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{20,80}"),
    _key("jwt", "eyJ", r"eyJ[\w-]{5,4000}\.[\w-]{2,8000}(?:\.[\w-]{0,4000}){0,3}", _jwt),
    _key("anthropic", "sk-ant-", r"sk-ant-[\w-]{8,250}"),
    _key("openai", "sk-", r"sk-[\w-]{12,250}", _mixed),
    _key("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{16,255}", _mixed),
    _key("github", "github_pat_", r"github_pat_\w{22,255}"),
    _key(
        "gitlab",
        "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- glffct-",
        r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-[\w-]{16,250}",
    ),
    _key("gitlab", "GR1348941", r"GR1348941[\w-]{16,60}"),
    _key("aws", "AKIA ASIA ABIA ACCA", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    _key("aws", "A3T", r"A3T[A-Z0-9]{17}", _digit),
    _key("google", "AIza", r"AIza[\w-]{30,45}"),
    _key("google", "ya29.", r"ya29\.[\w-]{20,400}"),
    _key("google", "GOCSPX-", r"GOCSPX-[\w-]{20,60}"),
    _key("google", "1//0", r"1//0[\w-]{40,120}"),
    _key(
        "slack",
        "xoxb- xoxp- xoxa- xoxo- xoxs- xoxr- xoxe- xoxc- xoxd-",
        r"xox[a-er-sop]-[\w%.-]{10,400}",
        _digit,
    ),
    _key("slack", "xapp-", r"xapp-\d-[A-Z0-9]{3,40}-\d{3,40}-[\w]{10,100}"),
    _key("slack", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/[\w/-]{8,200}"),
    _key(
        "stripe", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{8,250}"
    ),
    _key("stripe", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,100}"),
    _key("twilio", "SK AC", rf"(?:SK|AC){_HEX}{{32}}"),
    _key("sendgrid", "SG.", r"SG\.[\w-]{8,40}\.[\w-]{8,80}"),
    _key("mailgun", "key-", rf"key-{_HEX}{{32}}"),
    _key("mailgun", "pubkey-", rf"pubkey-{_HEX}{{32}}"),
    _key("brevo", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[\w-]{32,120}"),
    _key("npm", "npm_", r"npm_[A-Za-z0-9]{20,60}", _mixed),
    _key("mailchimp", "-us", r"[0-9a-f]{32}-us\d{1,2}", around=(33, 4)),
    _key("artifactory", "AKC", r"AKC[A-Za-z0-9]{60,80}", _digit),
    _key("pypi", "pypi-AgE", r"pypi-AgE[\w-]{8,400}"),
    _key("rubygems", "rubygems_", rf"rubygems_{_HEX}{{40,64}}"),
    _key("docker", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,60}"),
    _key("huggingface", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{16,60}", _drawn),
    _key("discord", "M N O", r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,45}", _digit),
    _key("discord", "discord", r"discord(?:app)?\.com/api/webhooks/\d{15,21}/[\w-]{40,90}"),
    _key("telegram", ":", r"\d{8,10}:[\w-]{32,40}", _token, around=(10, 60)),
    _key("digitalocean", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[a-z0-9]{20,64}"),
    _key("shopify", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[0-9A-Za-z]{16,64}"),
    _key("square", "sq0", r"sq0[a-z]{3}-[\w-]{20,60}"),
    _key("facebook", "EAA", r"(?<![+/])EAA[A-Za-z0-9]{90,300}(?![+/=])"),
    _key(
        "twitter",
        "AAAAAAAAAAAAAAAAAAAA",
        r"AAAAAAAAAAAAAAAAAAAA[A-Za-z0-9]{5,60}%[A-Za-z0-9%]{30,100}",
    ),
    _key("databricks", "dapi", rf"dapi{_HEX}{{32}}(?:-\d)?"),
    _key("linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{16,80}"),
    _key("notion", "ntn_", r"ntn_[A-Za-z0-9]{36,60}"),
    _key("notion", "secret_", r"secret_[A-Za-z0-9]{40,50}", _mixed),
    _key("figma", "figd_ figo_", r"fig[do]_[\w-]{30,80}"),
    _key("airtable", "pat", rf"pat[A-Za-z0-9]{{14}}\.{_HEX}{{64}}"),
    _key("postman", "PMAK-", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    _key("newrelic", "NRAK- NRAA- NRII- NRJS-", r"NR(?:AK|AA|II|JS)-[A-Za-z0-9_-]{16,60}"),
    _key("grafana", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{20,400}", _mixed),
    _key("sentry", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_-]{30,400}"),
    _key("doppler", "dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.(?:pt|st|ct|sa)\.[\w.-]{30,100}"),
    _key("vault", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,300}", _mixed),
    _key("terraform", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,90}", around=(15, 99)),
    _key("atlassian", "ATATT3 ATCTT3 ATBB", r"(?:AT[AC]TT3|ATBB)[\w=-]{24,300}"),
    _key("heroku", "HRKU-", r"HRKU-[\w-]{30,100}"),
    _key("fly", "fm1_ fm2_ fo1_", r"f(?:m1|m2|o1)_[\w+/=,-]{30,2000}"),
    _key("supabase", "sbp_ sb_secret_", r"sb(?:p|_secret)_[\w]{20,80}"),
    _key("replicate", "r8_", r"r8_[A-Za-z0-9]{30,50}"),
    _key("groq", "gsk_", r"gsk_[A-Za-z0-9]{30,80}"),
    _key("perplexity", "pplx-", r"pplx-[A-Za-z0-9]{32,80}"),
    _key("xai", "xai-", r"xai-[A-Za-z0-9]{40,100}"),
    _key("nvidia", "nvapi-", r"nvapi-[\w-]{32,100}"),
    _key("tavily", "tvly-", r"tvly-[\w-]{20,80}", _mixed),
    _key("pinecone", "pcsk_", r"pcsk_\w{30,120}"),
    _key("langsmith", "lsv2_", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    _key("netlify", "nfp_", r"nfp_[A-Za-z0-9]{30,60}"),
    _key("planetscale", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{30,80}"),
    _key("prefect", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{30,60}"),
    _key("sonar", "sqp_ squ_ sqa_", rf"sq[pua]_{_HEX}{{40}}"),
    _key("circleci", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_\w{20,100}"),
    _key("buildkite", "bkua_", rf"bkua_{_HEX}{{40}}"),
    _key("mapbox", "sk.eyJ", r"sk\.eyJ[\w-]{20,400}\.[\w-]{10,100}"),
    _key("onepassword", "ops_eyJ", r"ops_eyJ[\w+/=-]{100,3000}"),
    _key("alibaba", "LTAI", r"LTAI[A-Za-z0-9]{12,26}", _digit),
    _key("tencent", "AKID", r"AKID[A-Za-z0-9]{28,40}", _digit),
    _key("baidu", "bce-v3/ALTAK-", r"bce-v3/ALTAK-[\w/-]{20,120}"),
    _key("volcengine", "AKLT", r"AKLT[\w-]{20,80}", _digit),
    _key("azure", "8Q~ 7Q~", r"[\w.~-]{3}[78]Q~[\w.~-]{31,34}", around=(4, 60)),
    _key(
        "dingtalk", "oapi.dingtalk.com/", r"oapi\.dingtalk\.com/robot/send\?access_token=\w{32,80}"
    ),
    _key("feishu", "open.feishu.cn/", r"open\.feishu\.cn/open-apis/bot/v2/hook/[\w-]{24,48}"),
    _key(
        "wecom",
        "qyapi.weixin.qq.com/",
        r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[\w-]{24,48}",
    ),
    _key("teams", "webhook.office.com/", r"webhook\.office\.com/webhookb2/[\w@/-]{40,300}"),
)

"""Lines in which nothing is to be found, drawn from templates: prose, code, logs, hashes, diffs."""

from __future__ import annotations

import base64
import random
import string
import uuid
from collections.abc import Callable, Sequence
from typing import Final

Draw = random.Random

_NAMES: Final = "Mira Odile Tomas Ines Ruben Salka Priya Henrik Lotte Amara".split()
_THINGS: Final = (
    "billing worker|search index|depot map|tea order|invoice template|release notes".split("|")
)
_PLACES: Final = "Lyon Porto Bergen Ghent Turku Quill_Street Harrow Brightwater".replace(
    "_", " "
).split()
_WORDS: Final = (
    "anchor bottle candle drawer ember forest garden harbour island jacket kettle lantern meadow north"
    " orchard pencil quarry river saddle timber umbrella valley window yellow buffer cursor filter handler"
    " parser queue render schema thread update vector worker field index layout module option record"
).split()
_NAMES_ZH: Final = "小林 阿青 老周 王敏 陈舟 李禾".split()
_THINGS_ZH: Final = "账单服务 搜索索引 茶叶订单 发布说明 仓库地图 组件库".split()


def _word(draw: Draw) -> str:
    return draw.choice(_WORDS)


def _hex(draw: Draw, length: int) -> str:
    return "".join(draw.choices("0123456789abcdef", k=length))


def _digits(draw: Draw, length: int) -> str:
    return "".join(draw.choices(string.digits, k=length))


def _alnum(draw: Draw, length: int) -> str:
    return "".join(draw.choices(string.ascii_letters + string.digits, k=length))


def _b64(draw: Draw, size: int) -> str:
    return base64.b64encode(draw.randbytes(size)).decode()


def _uuid(draw: Draw) -> str:
    return str(uuid.UUID(int=draw.getrandbits(128), version=4))


def _ident(draw: Draw) -> str:
    joint = draw.choice(["_", "_", "-", "."])
    return joint.join(draw.choices(_WORDS, k=draw.randint(2, 4)))


def _camel(draw: Draw) -> str:
    return "".join(word.title() for word in draw.choices(_WORDS, k=draw.randint(2, 3)))


def _iso(draw: Draw) -> str:
    return (
        f"20{draw.randint(10, 29)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        f"T{draw.randint(0, 23):02}:{draw.randint(0, 59):02}:{draw.randint(0, 59):02}"
        f"{draw.choice(['Z', '.123Z', '+02:00', '.482913+00:00'])}"
    )


def _version(draw: Draw) -> str:
    return f"{draw.randint(0, 40)}.{draw.randint(0, 99)}.{draw.randint(0, 999)}" + draw.choice(
        ["", "-rc.1", "+build.20260301", ".dev0", "a1"]
    )


def _ip(draw: Draw) -> str:
    return ".".join(str(draw.randint(1, 254)) for _ in range(4))


_SLOTS: Final[dict[str, Callable[[Draw], str]]] = {
    "name": lambda draw: draw.choice(_NAMES),
    "thing": lambda draw: draw.choice(_THINGS),
    "place": lambda draw: draw.choice(_PLACES),
    "word": _word,
    "ident": _ident,
    "snake": lambda draw: "_".join(draw.choices(_WORDS, k=2)),
    "Camel": _camel,
    "zh": lambda draw: draw.choice(_NAMES_ZH),
    "thingzh": lambda draw: draw.choice(_THINGS_ZH),
    "sha1": lambda draw: _hex(draw, 40),
    "short": lambda draw: _hex(draw, draw.choice([7, 8, 10, 12])),
    "md5": lambda draw: _hex(draw, 32),
    "sha256": lambda draw: _hex(draw, 64),
    "sha512": lambda draw: _hex(draw, 128),
    "b64sha256": lambda draw: _b64(draw, 32),
    "b64sha512": lambda draw: _b64(draw, 64),
    "b64": lambda draw: _b64(draw, draw.choice([48, 96, 150, 300])),
    "uuid": _uuid,
    "iso": _iso,
    "day": lambda draw: _iso(draw)[:10],
    "ver": _version,
    "ip": _ip,
    "n": lambda draw: str(draw.randint(2, 99)),
    "n4": lambda draw: str(draw.randint(1000, 9999)),
    "d8": lambda draw: _digits(draw, 8),
    "d10": lambda draw: str(draw.randint(1, 9)) + _digits(draw, 9),
    "d12": lambda draw: str(draw.randint(1, 9)) + _digits(draw, 11),
    "d13": lambda draw: "17" + _digits(draw, 11),
    "d16": lambda draw: str(draw.randint(1, 9)) + _digits(draw, 15),
    "d18": lambda draw: str(draw.randint(1, 9)) + _digits(draw, 17),
    "d19": lambda draw: str(draw.randint(1, 9)) + _digits(draw, 18),
    "a8": lambda draw: _alnum(draw, 8),
    "a22": lambda draw: _alnum(draw, 22),
    "A10": lambda draw: _alnum(draw, 10).upper(),
    "css": lambda draw: "#" + _hex(draw, draw.choice([3, 6, 8])),
}

_TEMPLATES: Final[dict[str, Sequence[str]]] = {
    "prose": (
        "{name} moved to {place} on {day} and owns the {thing} now.",
        "The spare key is with {name}, behind the {word}.",
        "I prefer mint tea over coffee, and {name} prefers the {word} blend.",
        "{name} said the password is required only on the second screen.",
        "We decided that the password is stored hashed and that the token is rotated weekly.",
        "The password is too short, so the form shows a {word} hint.",
        "The password for the {thing} is in the vault, ask {name}.",
        "The key is to keep the {thing} small; the token is short-lived.",
        "Reset your password if the {word} is locked; passwords are case sensitive.",
        "My password manager is better than {name}'s notebook.",
        "{name} forgot the password again and had to call the {place} office.",
        "The secret is to knead the dough for {n} minutes.",
        "The API key is kept in the environment, never in the {thing}.",
        "Please rotate the access token before {day}.",
        "{name}'s passport expires on {day}, so renew it before the trip to {place}.",
        "My driving licence test is on {day} in {place}.",
        "I need a new insurance policy for the {word} by {day}.",
        "The bank account is with the branch in {place}.",
        "Her credit card was declined twice at the {word} shop.",
        "Tax season starts in {place}; {name} files the return.",
        "Room {n4}, floor {n}, ask for {name} at the {word} desk.",
        "{name} ran {n} km on {day} and slept {n} hours.",
        "Order {d10} ships to {place} on {day}.",
        "The ticket number is {d8} and the train leaves {place} at 09:{n}.",
        "Tracking number {d12}, parcel from {place}.",
        "Meeting moved from {day} to {day}; the {thing} waits.",
        "{name} likes the {css} shade for the {word} theme.",
        "The pin on the map marks the {word} in {place}.",
        "Pin the {word} dependency to {ver} until {name} is back.",
        "Answer first, reasons after; {name} wants {n} bullet points at most.",
        "The door code changed last week, {name} has the new one.",
        "Remember that {name} owns the {thing} and {name} owns the {thing}.",
        "The security code review of the {thing} is due {day}.",
        "Her account number two is for the {word} savings.",
    ),
    "prose-zh": (
        "{zh}负责{thingzh}，下周三之前给结论。",
        "备用钥匙在{zh}那里，不在前台。",
        "项目统一使用函数式组件，{thingzh}除外。",
        "密码是必填项，登录页要给出提示。",
        "密码不能少于8位，必须包含数字和字母。",
        "密码为空时返回错误，{zh}已经改好了{thingzh}。",
        "用户忘记密码后可以通过邮箱重置，流程见{thingzh}。",
        "令牌是短期有效的，过期后由{thingzh}刷新。",
        "密钥由{zh}统一保管，不写进代码。",
        "{zh}的护照明年到期，需要提前续签。",
        "身份证要带原件，{zh}在门口等。",
        "银行卡还没办好，先用现金。",
        "社保的事情问{zh}，医保卡下个月寄到。",
        "订单号{d12}已发货，预计{day}送达。",
        "快递单号是{d13}，{zh}代收。",
        "会议改到{day}下午三点，地点在{thingzh}组的会议室。",
        "我喜欢喝薄荷茶，不喜欢加糖。",
        "版本{ver}修复了{thingzh}的{n}个问题。",
        "把{thingzh}的超时改成{n}秒，回滚条件见文档。",
        "流水号{d16}对不上，{zh}去查{thingzh}。",
        "主题色用{css}，按钮圆角{n}像素。",
        "验证码收不到的话联系{zh}。",
        "提交{short}引入了回归，请{zh}看一下。",
        "接口返回的token是字符串类型，长度不固定。",
        "key是唯一的，不能重复；{snake}是外键。",
    ),
    "python": (
        '    password = getpass.getpass("Password: ")',
        '    {snake} = os.environ["DB_PASSWORD"]',
        '    api_key = settings.api_key or os.getenv("API_KEY")',
        "def {snake}(user: str, password: str, token: str | None = None) -> {Camel}:",
        '    token = request.headers.get("Authorization", "").removeprefix("Bearer ")',
        "    self.{snake} = {Camel}(token=token, secret=self._secret, limit={n})",
        "    password: str = Field(min_length={n}, max_length=128)",
        "    return hashlib.sha256(password.encode()).hexdigest()",
        "    if not check_password(password, user.password_hash):",
        "    for key, value in sorted({snake}.items()):",
        '    key = f"{ident}:{{user_id}}:{{{snake}}}"',
        '    client = {Camel}(api_key=api_key, base_url="https://api.example.org/v{n}")',
        '    raise ValueError("password is not valid for {word}")',
        '    access_token = response.json()["access_token"]',
        '    assert token == tokens[{n}] and tokens[{n}].kind == "{word}"',
        '    secret_key = config["{word}"]["secret_key"]',
        "from {word}.{word} import {Camel}, {snake}  # noqa: F401",
        '    {snake}["{snake}_{n}"] = ({n}, {n4}, 0x{short})',
        '    parser.add_argument("--password", help="password for the {word} server")',
        '    parser.add_argument("--token", default=None, metavar="TOKEN")',
        "class {Camel}(Base{Camel}, Generic[T]):",
        '    """Key is the {word} name, token is the {word} position."""',
        "    session.auth = (user, password)",
        "    password=password, private_key=private_key, passphrase=None,",
    ),
    "web": (
        "const {{ password, token }} = await {Camel}.load('{word}', {n});",
        '<input type="password" name="password" id="{word}-password" autocomplete="new-password">',
        "  password: z.string().min({n}, 'Password is required'),",
        "  apiKey: process.env.API_KEY,",
        "export interface {Camel} {{ id: string; password?: string; accessToken: string | null }}",
        "  headers: {{ Authorization: `Bearer ${{token}}`, 'X-Request-Id': '{uuid}' }},",
        ".{word}-{word} {{ color: {css}; background: {css}; margin: {n}px }}",
        ".sk-folding-cube .sk-cube{n}:before {{ animation: sk-foldCubeAngle 2.4s infinite linear both }}",
        (
            "!function(e,t){{var n=e.{word}||{{}},r=t[{n}];"
            'n.key=r.token,e.password=n.secret;for(var i=0;i<{n4};i++)t(i,"{word}")}}(this,{{}});'
        ),
        (
            '"use strict";'
            'var a=require("{word}"),b=a.token({n4}),c="{a8}";exports=function(d){{return d.key===b?c:a[d.secret]}};'
        ),
        '  "{word}": "^{ver}",',
        '<svg viewBox="0 0 {n} {n}"><path d="M{n}.{n} {n}.{n4}c-{n}.{n} 0-{n}-.{n4} {n}z"/></svg>',
        '<img src="data:image/png;base64,{b64}" alt="{word}">',
        "  background: url(data:font/woff2;base64,{b64});",
        '<script src="/static/{word}.{short}.js" integrity="sha384-{b64sha256}"></script>',
        "  const cacheKey = `{word}:${{id}}:{snake}`;",
        "  it('rejects when the password is missing', async () => {{",
        "  label: 'Password', placeholder: 'Enter your password', type: 'password',",
    ),
    "systems": (
        "func (s *{Camel}) Token(ctx context.Context, key string) (string, error) {{",
        '    let token = env::var("{word}_TOKEN").expect("token is missing");',
        "pub struct {Camel} {{ password: SecretString, key: [u8; 32], nonce: u64 }}",
        "static const uint32_t k[{n}] = {{ 0x{short}, 0x{short}, 0x{short} }};",
        "    private final String password; // never logged, see {Camel}",
        '    if (token == null || token.isEmpty()) {{ throw new {Camel}Exception("token is empty"); }}',
        "SELECT key, value, token_count FROM {snake} WHERE key = $1 AND id > {n4};",
        "CREATE TABLE {snake} (id BIGINT PRIMARY KEY, password_hash TEXT NOT NULL, key VARCHAR({n}));",
        "ALTER TABLE {snake} ADD CONSTRAINT fk_{word} FOREIGN KEY (key) REFERENCES {snake}(id);",
        'export PATH="$HOME/.{word}/bin:$PATH" && make {word} -j{n}',
        "docker run --rm -u $(id -u):$(id -g) -p {n4}:{n4} {word}/{word}:{ver}",
        'curl -fsSL -u "$USER:$PASS" https://example.org/{word}/{ver}.tar.gz -o {word}.tgz',
        "ssh -i ~/.ssh/id_ed25519 -p {n4} {word}@{ip}",
        "      password: ${{{{ secrets.REGISTRY_PASSWORD }}}}",
        "  API_KEY: ${{API_KEY:?set the key first}}",
        '    key: {word}-{{{{ checksum "uv.lock" }}}}',
        "password_file: /run/secrets/{word}_password",
        "requirepass <password>",
        "DB_PASSWORD=",
        "SECRET_KEY=<your secret key>",
        "DATABASE_URL=postgres://{word}@{word}.internal:5432/{word}",
        "#define {word}_KEY_MAX {n4}",
    ),
    "hashes": (
        "commit {sha1}",
        "{sha1} refs/tags/v{ver}",
        "Merge: {short} {short}",
        "index {short}..{short} 100644",
        "{sha256}  {word}-{ver}.tar.gz",
        "{md5} *{word}.iso",
        "fixes a regression from {short}, see {sha1}",
        'ETag: "{md5}"',
        "digest: sha256:{sha256}",
        "sha512:{sha512}",
        "tree {sha1} parent {sha1}",
        'revision = "{short}"  # {day}',
        "cache key: {sha256}",
        "the cache key is {sha1}, the partition key is {ident}",
        "image: registry.example.org/{word}@sha256:{sha256}",
        "fingerprint SHA256:{b64sha256}",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{a22}{a22} {word}@{word}",
    ),
    "ids": (
        "{uuid}",
        "request {uuid} took {n4} ms",
        "session={uuid} user={n4} trace={md5}",
        "mem_{A10}{A10}{d8}",
        "order no. {d10}, phone order, {n} pieces",
        "invoice {d8}-{n} of {day}",
        "order id {d16} belongs to batch {d19}",
        "snowflake {d18} channel {d19}",
        "ISBN 978-{n}-{d8}-{n}",
        "part {A10}-{n4} rev {n}",
        "build {d8}.{n} on {ip}:{n4}",
        "ticket ABC-{n4}, epic QUILL-{n}",
        "timestamp {d13}, offset {d10}",
        "订单 {d18}，批次 {d16}",
    ),
    "lock": (
        '      "integrity": "sha512-{b64sha512}",',
        (
            '    {{ url = "https://example.org/{word}-{ver}-py3-none-any.whl",'
            ' hash = "sha256:{sha256}", size = {d8} }},'
        ),
        "    --hash=sha256:{sha256} \\",
        "github.com/{word}/{word} v{ver} h1:{b64sha256}",
        'checksum = "{sha256}"',
        '  resolved "https://packages.example.org/{word}/-/{word}-{ver}.tgz#{sha1}"',
        "  resolution: {{integrity: sha512-{b64sha512}}}",
        '    sha256 = "{sha256}";',
        "  version: {ver}",
        '"{word}@npm:^{ver}": checksum: 10/{sha512}',
    ),
    "logs": (
        "{iso} INFO {word}.{word}: token refreshed for user {n4} in {n} ms",
        "{iso} WARN auth: password is wrong for user {word} from {ip}",
        '{ip} - - [{iso}] "GET /{word}/{n4}?key={word}&page={n} HTTP/1.1" 200 {n4}',
        "[{iso}] {word}[{n4}]: connection from {ip} port {n4}",
        "{iso} DEBUG cache: key={ident} hit=true age={n}s",
        "E{n4} {iso} {n4} {word}.cc:{n4}] token is expired: {uuid}",
        '  File "/usr/lib/python3/dist-packages/{word}/{word}.py", line {n4}, in {snake}',
        "KeyError: '{snake}'",
        "npm warn deprecated {word}@{ver}: use {word} instead",
        "FAILED tests/test_{word}.py::test_{snake}[{word}-{n}] - AssertionError: {n} != {n}",
        "tokens: prompt={n4} completion={n4} total={d8}",
        "http://{ip}:{n4}/{word}?from={iso}&id={uuid}",
    ),
    "diff": (
        '+    password = form.cleaned_data["password"]',
        "-    token = make_token(user, {n})",
        "@@ -{n4},{n} +{n4},{n} @@ def {snake}(self, key):",
        "diff --git a/{word}/{snake}.py b/{word}/{snake}.py",
        "+- {word}: {ver} -> {ver}",
        "-  apiKey: config.get('{word}.apiKey'),",
        "+  secret: process.env.{word}_SECRET || '',",
        "+++ b/{word}/{ident}.md\t{iso}",
        "- [{ident}](mem_{A10}.md) — {name} owns the {thing}",
    ),
}


def ordinary(count: int, seed: int = 7) -> list[str]:
    """`count` lines, the kinds in equal shares, the same for the same seed."""
    return _drawn(_TEMPLATES, count, seed)


def _drawn(templates: dict[str, Sequence[str]], count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    kinds = list(templates)
    return [
        _filled(draw, draw.choice(templates[kinds[number % len(kinds)]])) for number in range(count)
    ]


def _filled(draw: Draw, template: str) -> str:
    return template.format_map(_Slots(draw))


class _Slots(dict[str, str]):
    """Each look-up draws anew, so that a template may name a slot twice."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self._draw = draw

    def __getitem__(self, slot: str) -> str:
        return _SLOTS[slot](self._draw)


_OTHER_TEMPLATES: Final[dict[str, Sequence[str]]] = {
    "prose": (
        "Lunch with {name} at the {word} café, table for {n}, then the 14:{n} to {place}.",
        "{name} asked whether the password is the same on both laptops; it is not.",
        "Passwords are boring, passkeys are better, says {name}.",
        "The token economy talk in {place} was thin, the {word} one was good.",
        "Give the key to {name} once the {thing} is shipped.",
        "Her licence plate is easy to remember and the car is in {place}.",
        "The passport office in {place} opens at 9, bring form {n}.",
        "Card games on {day}, {name} brings the {word} deck.",
        "I changed my password to something longer and told nobody.",
        "Nobody knows what the password is, {name} least of all.",
        "He keeps the password in a {word}, which is a bad idea.",
        "The key takeaway is that version {ver} is faster than {ver}.",
        "Medical school took {name} {n} years; the record shop took two.",
        "Account for {n} percent of the {thing} before {day}.",
        "The secret ingredient is {word}, the second is patience.",
        "Flight QX{n4} lands at {n}:30, gate B{n}, seat {n}C.",
    ),
    "prose-zh": (
        "{zh}说密码太简单了，建议改成口令加验证码。",
        "下次开会把钥匙还给{zh}，地点在{thingzh}组。",
        "令牌桶限流的参数是{n}，突发{n4}。",
        "{zh}的工号是{n4}，座位在三楼。",
        "密码学课程第{n}讲：密钥交换。",
        "身份证复印件不要留底，{zh}会处理。",
        "客服电话排队太久，订单{d12}先不退。",
        "护照照片尺寸是{n}毫米，{zh}去拍。",
    ),
    "notes": (
        "## {word} {ver}\t({day})",
        "- [ ] ask {name} about the access token lifetime",
        "- [x] `password` column renamed to `{snake}` in #{n4}",
        "| {word} | {n} | {ver} | {day} |",
        "> the key is {word}, the value is {n4}",
        "NOTE({name}): the refresh token is cached for {n4} s",
        "[{word}](https://docs.example.org/{word}/{ver}#password-reset)",
        "1. Copy the API key from the {word} page. 2. Paste it below.",
        "`Authorization: Bearer <token>` is sent with each call",
        "Set `password` to a value of at least {n} characters.",
    ),
    "code": (
        'password := os.Getenv("{word}_PASSWORD")',
        "$password = $_POST['password'] ?? null;",
        'val token: String = prefs.getString("token", "") ?: ""',
        "user.password = await bcrypt.hash(user.password, {n});",
        "const [password, setPassword] = useState('');",
        "if key not in {snake}: {snake}[key] = {n4}",
        'let key = format!("{{}}-{{}}", {word}, {n4});',
        "token: {{ type: String, required: true, index: true }},",
        "private_key = serialization.load_pem_private_key(data, password=None)",
        "secret = secrets.token_urlsafe({n})",
        "apiKey = await vault.read(`{word}/${{env}}/api-key`)",
        'resource "random_password" "{word}" {{ length = {n} }}',
        "password = var.{snake}_password",
        "access_key: !Ref {Camel}AccessKey",
        "--set auth.password=$PASSWORD --set auth.existingSecret={word}-{word}",
        "PGPASSWORD=\"$PGPASSWORD\" psql -h {word} -U {word} -c 'select {n}'",
        'assert_eq!(hash("{word}"), "{sha256}");',
        "#[test] fn token_{snake}_is_{n4}() {{ assert_eq!(token({n}), {n4}); }}",
    ),
    "machine": (
        "{iso} {ip} {uuid} {d13} {n4}",
        '{{"id": "{uuid}", "ts": {d13}, "sha": "{sha1}", "n": {d10}}}',
        "{b64}",
        "blob {sha1} {n4}\t{ident}",
        "span_id={short} trace_id={md5} dur={n4}us",
        "v1:{sha256}:{d10}",
        "urn:uuid:{uuid}",
        'W/"{short}-{a22}"',
        "[{d10}.{d8}] usb {n}-{n}: new device number {n}",
        "barcode {d13}, batch {d8}, shelf {n}",
        "BTC block {d8} hash 0000000000000000{sha1}",
        "{word}.{sha256}.chunk.js",
        "{d18},{d16},{d12},{n4}",
        "lat {n}.{d8}, lon -{n}.{d8}",
        "x-amz-request-id: {A10}{n4}",
        "cid bafybei{sha1}",
    ),
}


def other(count: int, seed: int = 11) -> list[str]:
    """`count` lines of templates written after the rules, the same for the same seed."""
    return _drawn(_OTHER_TEMPLATES, count, seed)

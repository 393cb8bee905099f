"""Detect pages served instead of the requested page: captchas, logins, "not found".

Many such pages have status 200. Several signals must agree: the title or first heading, a
sentence, an element, and little text. An article about such pages has only one of these signals.
"""

# ruff: noqa: RUF001  letters from many languages

from __future__ import annotations

import functools
import re

from websearch.base.html_tree import HEADINGS, text_beginning
from websearch.kit import SearchError
from websearch.pages.fetch.walls import MAX_WALL_HTML, REDDIT_HINT, ROBOT_CHECK, WALLS, is_reddit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.page_tree import PageTree

MAX_WALL_TEXT = 1_500  # characters of text; a longer page is not an interstitial
MAX_TITLE = 200  # characters of a title or heading
MAX_SHOWN = 3_000  # characters of a page's text to search for sentences
_TITLE_BREAK = r" [|\u00b7\u2022\u2013\u2014\u00bb:-] "  # separators before a site's name
_TITLE_ENDS = " .!?:\u2026\u3002\uff01\uff1f\u00bf\u00a1\"'"
LITTLE_TEXT = 400  # characters; most interstitials have fewer, most articles have more
ENOUGH = 3  # points that make a page an interstitial
# Patterns for the start of URLs to which sites redirect visitors: (kind, pattern).
ADDRESSES = (
    ("consent", r"https?://(?:consent\.(?:google|youtube|yahoo)\.|guce\.)"),
    ("login", r"https?://[\w.-]{0,60}\blinkedin\.com/(?:authwall|checkpoint|login|uas/login)"),
    ("login", r"https?://[\w.-]{0,60}\breddit\.com/(?:login|account/login)"),
    ("login", r"https?://[\w.-]{0,60}\bfacebook\.com/(?:login|checkpoint)"),
    ("login", r"https?://(?:www\.instagram\.com/accounts/login|accounts\.google\.com/)"),
    ("robots", r"https?://[\w.-]{0,60}\bgoogle\.[a-z.]{2,6}/sorry/|https?://wappass\.baidu\.com/"),
    ("robots", r"https?://[\w.-]{0,60}\b(?:ya|yandex)\.\w{2,6}/showcaptcha"),
)
# Complete titles and first headings, in lower case without final punctuation. A site name before or
# after a title is ignored.
TITLES = {
    "robots": """
        access denied|access to this page has been denied|pardon our interruption|request rejected
        are you a robot|are you human|robot check|robot or human|human verification
        security verification|security check required|bot verification|verify you are human
        verifying you are human|verify that you are human|making sure you're not a bot
        vercel security checkpoint|checking your browser|you have been blocked
        sorry, you have been blocked|radware captcha page|radware bot manager captcha|bot or not
        ddos-guard|your browsing activity has been paused
        your access to this site has been limited
        your access to this site has been limited by the site owner|attention required
        whoa there, pardner|you've been blocked by network security|challenge validation
        please verify you are a human|confirm you are human|just a moment
        enter the characters you see below|type the characters you see in this image
        click the button below to continue shopping
        we've detected unusual activity from your computer network|unusual traffic detected
        zugriff verweigert|sicherheitsüberprüfung|sind sie ein mensch|sind sie ein roboter
        nur einen moment|bestätigen sie, dass sie kein roboter sind|accès refusé
        vérification de sécurité|êtes-vous un robot|vérification que vous êtes humain
        acceso denegado|verificación de seguridad|eres un robot|comprueba que eres humano
        accesso negato|verifica di sicurezza|sei un robot|ci siamo quasi|acesso negado
        verificação de segurança|você é um robô|toegang geweigerd|beveiligingscontrole
        een moment geduld|een ogenblik geduld|odmowa dostępu|weryfikacja bezpieczeństwa
        cierpliwości|доступ запрещен|доступ запрещён|вы не робот|подтвердите, что вы не робот
        проверка безопасности|подтвердите, что запросы отправляли вы, а не робот
        アクセスが拒否されました|ロボットではないことを確認|セキュリティチェック|百度安全验证
        安全验证|访问被拒绝|人机验证|访问验证|滑动验证|접근이 거부되었습니다|보안 확인
        로봇이 아닙니다|erişim engellendi|güvenlik kontrolü
    """,
    "robots?": """
        one moment|one more step|please wait|blocked|oops|captcha|recaptcha|captcha page
        site verification|security check|einen moment|einen moment bitte|bitte warten|un instant
        veuillez patienter|un momento|solo un momento|espere un momento|um momento|aguarde
        один момент|подождите|ой|しばらくお待ちください|请稍候|請稍候|잠시만 기다리십시오
        잠시만 기다려 주세요|bir dakika lütfen
    """,
    "script": """
        javascript is not available|javascript is disabled|javascript is required
        javascript required|please enable javascript|enable javascript
        you need to enable javascript|javascript ist deaktiviert|javascript aktivieren
        javascript est désactivé|activez javascript|javascript está desactivado
        javascript è disabilitato|javascript отключен|включите javascript
        javascriptを有効にしてください|请启用javascript
    """,
    "login": """
        log in|login|sign in|sign up|sign in or join|log in or sign up|log in to facebook
        log into facebook|linkedin login, sign in|join linkedin|log in to continue
        sign in to continue|anmelden|einloggen|anmeldung|se connecter|connexion|iniciar sesión
        inicia sesión|accedi|entrar|iniciar sessão|inloggen|aanmelden|zaloguj się|logowanie|войти
        вход|ログイン|登录|登入|로그인|giriş yap
    """,
    "missing": """
        page not found|404|error 404|404 error|404 not found|404 page not found|not found
        404 - not found|file not found|page doesn't exist|page does not exist|page unavailable
        this page isn't available|this page could not be found|this page does not exist
        sorry, this page isn't available|we can't find that page|we couldn't find that page
        this content isn't available right now|this content isn't available|seite nicht gefunden
        die seite wurde nicht gefunden|seite existiert nicht|page introuvable|page non trouvée
        cette page n'existe pas|página no encontrada|no se encontró la página|la página no existe
        pagina non trovata|la pagina non esiste|página não encontrada|a página não existe
        pagina niet gevonden|nie znaleziono strony|strona nie istnieje
        strona nie została znaleziona|страница не найдена|такой страницы нет
        страница не существует|ページが見つかりません|お探しのページは見つかりませんでした
        页面不存在|找不到页面|页面未找到|找不到網頁|페이지를 찾을 수 없습니다|sayfa bulunamadı
    """,
    "portal": """
        wi-fi login|wifi login|guest wi-fi|guest wifi|free wi-fi|free wifi|hotspot login
        mikrotik hotspot > login|network login|network authentication|captive portal
        web authentication redirect|wlan-anmeldung|connexion wi-fi|acceso wi-fi
    """,
}
# Sentences on such pages: kind -> pattern for the page's text in lower case.
SENTENCES = {
    "robots": (
        r"press (?:&|and) hold|hold the button to confirm"
        r"|confirm (?:that )?you(?:'re| are) (?:a )?human|not a (?:ro)?bot\b"
        r"|made us think (?:that )?you (?:are|were) a bot|support id is"
        r"|verify(?:ing)? (?:that )?you(?:'re| are) (?:a )?human"
        r"|review the security of your connection"
        r"|you(?:r request)?(?:'ve| has| have) been blocked|complete the security check"
        r"|you don't have permission to access|generated by wordfence"
        r"|enter the characters you see|unusual (?:traffic|activity) from your"
        r"|enable javascript and cookies to continue|disable any ad ?blocker"
        r"|verifying your browser|checking your browser|performance & security by"
        r"|drag the slider|kein roboter|sie ein mensch sind|mensch sind"
        r"|sicherheit ihrer verbindung|pas un robot|êtes (?:un )?humain"
        r"|sécurité de votre connexion|no eres un robot|es un ser humano|eres humano"
        r"|seguridad de (?:su|tu) conexión|non sei un robot|sei un essere umano|sia umano"
        r"|não é um robô|é humano|segurança da sua conexão|geen robot|mens bent"
        r"|nie jesteś robotem|jesteś człowiekiem|а не робот|не робот|что вы человек"
        r"|безопасность вашего подключения|人間であることを|ロボットではない|不是机器人"
        r"|确认您是真人|您是真人|网络不给力|사람인지 확인|로봇이 아님|robot olmadığınızı"
        r"|insan olduğunuzu"
    ),
    "script": (
        r"javascript is (?:disabled|not (?:available|enabled|supported)|required)"
        r"|enable javascript|turn on javascript|requires javascript|need to enable javascript"
        r"|javascript (?:zu )?aktivieren|javascript ist deaktiviert|activer javascript"
        r"|activez javascript|habilit\w{1,9} javascript|activ[ae]\w{0,9} javascript"
        r"|abilita\w{0,9} javascript|ative o javascript|включите javascript|javascriptを有効"
        r"|启用 ?javascript"
    ),
    "consent": (
        r"before you continue to (?:google|youtube)|bevor sie zu (?:google|youtube) weitergehen"
        r"|avant d'accéder à (?:google|youtube)"
        r"|antes de ir a (?:la búsqueda de )?(?:google|youtube)"
        r"|prima di continuare su (?:google|youtube)"
        r"|antes de continuar para (?:o |a )?(?:pesquisa )?(?:google|youtube)"
        r"|voordat je (?:verdergaat|naar) (?:naar )?(?:google|youtube)"
        r"|zanim przejdziesz do (?:google|youtube)|прежде чем перейти к (?:google|youtube)"
        r"|(?:google|youtube) に進む前に|前往 ?(?:google|youtube)"
        r"|part of the yahoo family of brands|teil der yahoo[ -]markenfamilie"
        r"|fait partie de la famille de marques yahoo"
    ),
    "login": (
        r"(?:must|need to|have to|please) (?:log|sign) ?in"
        r"|(?:log|sign) ?in to (?:continue|see|view)|agree & join linkedin|new to linkedin"
        r"|forgot(?:ten)? (?:your )?password|create new account|passwort vergessen"
        r"|mot de passe oublié|olvidaste tu contraseña|password dimenticata"
        r"|esqueceu (?:a|sua) senha|wachtwoord vergeten|nie pamiętasz hasła|забыли пароль"
        r"|パスワードをお忘れ|忘记密码|비밀번호를 잊"
    ),
    "missing": (
        r"page (?:that )?you (?:are looking|were looking|are trying|requested)|page you're looking"
        r"|(?:page|address|url|link) (?:may|might|could) (?:have been|be) (?:moved|removed|broken)"
        r"|(?:page|address) (?:may|might|could) (?:have been|be) deleted"
        r"|(?:could not|cannot|can't|couldn't) (?:be found|find (?:the|that|this) page)"
        r"|page (?:does not|doesn't|no longer) exist|the link you followed may be broken"
        r"|seite (?:konnte )?(?:leider )?nicht gefunden"
        r"|page que vous (?:cherchez|recherchez|avez demandée)"
        r"|página que (?:busca|buscas|procura|solicit)|pagina (?:che|richiesta|die je zoekt)"
        r"|strona,? której|страница(?:, которую|\w{0,9} не)|ページは(?:見つかり|存在|削除)"
        r"|您访问的页面|찾으시는 페이지|요청하신 페이지|aradığınız sayfa"
    ),
    "parked": (
        r"(?:this|the) domain (?:name )?(?:is|may be) (?:for sale|parked)|is parked free"
        r"|buy this domain|domain (?:is )?available for purchase|\.\w{2,12} is for sale"
        r"|parked (?:domain|courtesy of)|interested in (?:buying )?this domain"
        r"|domain steht zum verkauf|domain ist geparkt|ce (?:nom de )?domaine est à vendre"
        r"|este dominio está (?:en venta|a la venta|aparcado)|questo dominio è in vendita"
        r"|este domínio está à venda|deze domeinnaam is te koop|ta domena jest na sprzedaż"
        r"|домен продается|домен продаётся|домен припаркован|このドメインは|此域名(?:正在)?出售"
        r"|域名出售"
    ),
    "portal": (
        r"(?:wi-?fi|hotspot|network) (?:access|login|terms|connection)"
        r"|connect to (?:the )?(?:free )?wi-?fi"
        r"|to (?:use|access) (?:the |our )?(?:free |guest )?(?:wi-?fi|internet|network)"
        r"|you are now connected to"
    ),
}  # fmt: skip
# Elements and scripts on such pages.
MARKUP = {
    "consent": r"(?i)action=[\"']https://consent\.|collectConsent|consent\.yahoo\.com|CONSENT_UI",
    "login": r"(?i)type=[\"']?password|authwall",
    "parked": (
        r"(?i)sedoparking|parkingcrew|bodis\.com|img1\.wsimg\.com/parking|/lander\b|hugedomains\.com"
        r"|afternic\.com|dan\.com/|parklogic|above\.com/|namecheap\.com/park|window\.park\s{0,3}="
    ),
    "portal": (
        r"(?i)WISPAccessGatewayParam|captive-?portal|\$\(link-login|hotspot/login|nodogsplash"
    ),
}
# Kinds for which little text is not a signal: short pages may be about logins or guest Wi-Fi.
SHORT_SUBJECTS = ("login", "portal")
# Kind -> (kind of error, message, hint).
MESSAGES = {
    "robots": ("blocked",
               "returned a robot check instead of the page: it blocks automated requests",
               "Use another source. Or open the page in a browser."),
    "script": ("blocked", "shows its page only to browsers that run JavaScript",
               "Set {browser} to run its scripts. Or use the site's API or another source."),
    "consent": ("blocked", "asks for cookie consent instead of showing the page",
                "Use another source. Or open the page in a browser."),
    "login": ("blocked", "asks for a login instead of showing the page",
              "Use another source: only members of the site can see this page."),
    "missing": ("http", "reports that the page does not exist, despite a success status",
                "Check the URL. If the page has moved, search for its title."),
    "parked": ("http", "is gone: its domain is for sale or parked",
               "Use another source. Or set {archived} to read a copy from the Internet Archive."),
    "portal": ("network", "was not reached: the network shows its own login page",
               "Log in to the network (Wi-Fi) in a browser, then try again."),
}  # fmt: skip


def interstitial_error(host: str, kind: str, status: int) -> SearchError:
    """Return the error for a kind of interstitial."""
    error_kind, message, hint = MESSAGES[kind]
    if is_reddit(host) and error_kind == "blocked":
        hint = REDDIT_HINT
    return SearchError(error_kind, f"{host} {message}.", hint, status=status)


def address_wall(url: str) -> str:
    """Return the kind of interstitial that a redirect's target URL indicates, or ""."""
    return next((kind for kind, pattern in ADDRESSES if re.match(pattern, url)), "")


def interstitial(page: PageTree, html: str, text: str) -> str:
    """Return the page's kind of interstitial, a key of MESSAGES; "" if it is not an interstitial.

    text: the page's content, shorter than MAX_WALL_TEXT.
    """
    titles = titles_of(page)
    shown = plain_letters(text_beginning(page.root, MAX_SHOWN))
    points = {kind: points_of(kind, titles, shown) for kind in MESSAGES}
    if len(text) < LITTLE_TEXT:
        points |= {kind: count + 1 for kind, count in points.items() if kind not in SHORT_SUBJECTS}
    for kind, count in points.items():
        if count == ENOUGH - 1:  # only then can an element decide
            points[kind] += has_element(kind, html[:MAX_WALL_HTML])
    best = max(points, key=lambda kind: points[kind])
    return best if points[best] >= ENOUGH else ""


def points_of(kind: str, titles: set[str], shown: str) -> int:
    """Return the number of signals for a kind of interstitial; a title or heading counts double."""
    points = 0
    if titles & known_titles(kind):
        points = 2
    elif kind == "robots" and titles & known_titles("robots?"):
        points = 1
    sentence = SENTENCES[kind]
    if kind in ("consent", "parked") and any(re.search(sentence, title) for title in titles):
        points = 2
    return points + bool(re.search(sentence, shown))


def has_element(kind: str, html: str) -> bool:
    """Return whether a page has an element or script that is typical of a kind of interstitial."""
    if kind == "robots":
        return any(re.search(sign, html) for name, sign in WALLS if name != ROBOT_CHECK)
    return bool(kind in MARKUP and re.search(MARKUP[kind], html))


def titles_of(page: PageTree) -> set[str]:
    """Return the title, the first heading and the parts of both, in plain letters."""
    titles: set[str] = set()
    for tags in ({"title"}, {"h1"}, HEADINGS):
        node = next((node for node in page.nodes if node.tag in tags), None)
        if node and not (tags is HEADINGS and len(titles) > 1):
            title = plain_letters(text_beginning(node, MAX_TITLE))
            titles |= {part.strip(_TITLE_ENDS) for part in (title, *re.split(_TITLE_BREAK, title))}
    return titles


def plain_letters(text: str) -> str:
    """Return a text in lower case, on one line, with plain apostrophes."""
    return " ".join(text.lower().replace("\u2019", "'").split())


@functools.cache
def known_titles(kind: str) -> frozenset[str]:
    """Return the titles of a kind of interstitial."""
    lines = TITLES.get(kind, "").splitlines()
    return frozenset(title for line in lines for title in line.strip().split("|") if title)

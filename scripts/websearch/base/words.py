"""Common words, and scripts without spaces: the language data for all word searches."""

from __future__ import annotations

import functools
import re

# Articles, pronouns, auxiliaries, prepositions and question words, which say little about a
# question's subject.
ENGLISH_STOP_WORDS = frozenset(
    """
a about all also am an and any are as at be because been before being between both but by
can could did do does doing during each for from had has have having he her here hers him
his how i if in into is it its itself just may me might more most much my no nor not of off
on once only or other our out over own same shall she should so some such than that the
their them then there these they this those through to too under until up upon very was we
were what when where whether which while who whom whose why will with within would you your
""".split()
)
# Words that mean something else in English, such as "war" and "son", are omitted.
# One paragraph per language, in the order of LANGUAGES.
_OTHER_STOP_WORDS = """
aber als auch auf aus bei bis das dass dem den der des dies diese dieser dieses durch ein
eine einem einen einer eines er es für gibt haben hatte ich ihm ihr ihre im ist kann nach
nicht noch oder sein seine seit sich sie sind um und unter vom von vor wann waren warum
welche welchem welchen welcher welches wem wen wenn wer werden weshalb wessen wie wird wo
wofür woher wohin wurde wurden zu zum zur über

au aux avec ce ces cet cette combien comme dans de du elle elles en est et fait il ils je la
laquelle le lequel les lesquels leur leurs lui mais ne nous ont ou où par pour pourquoi qu
quand que quel quelle quelles quels qui quoi sa se ses si sont sur un une vous à étaient
était été être

al cual cuales cuando cuanta cuanto cuantos cuál cuáles cuándo cuánta cuántas cuánto cuántos
cómo del donde dónde el entre eran esta este esto está fue fueron ha había han las lo los
más o para pero por porque quien quienes quién quiénes qué ser sobre su sus también una uno
y ya él

alla alle anche che chi ci cosa cui da dal dalla degli dei della delle di erano furono gli
hanno ma nei nel nella non per perché più qual quale quali quando quanta quante quanti
quanto sono sta sua sul sulla suo suoi tra è

ao aos com como dos ela ele em eram essa esse foi foram há isso isto já mas na nas nos onde
pela pelo quais quantas quantos quem seu seus suas são também tem uma às é

aan bij dat deze dit een heeft het hij hoe hoeveel hun kan maar met naar niet nog om onder
ook op te tot uit van veel voor waar waarom wanneer wat welk welke werd worden wordt zal ze
zich zij zijn zo

ale ar ca cei cel cele cine cu cum când cât câte câți că din după ea ei erau eu fost lor mai
nu pe pentru prin sau sunt să unde unei unor unui îi îl în între și

był była było były co czy czym dla dlaczego gdy gdzie ile jak jaka jaki jakie jakim jako
jest już kiedy kogo kto która które który lub nad nie od oraz po przez przy się są ta tak
także tego u w z za że

а без бы был была были было в во вы где да для до его ее если есть её же за зачем и из или
им их к как какая какие каким каких какова какого какое какой каком какую кем когда кого ком
кому которая которые который кто куда ли между на над не него нее нет о об от откуда по под
после почему при с сколько со так также то того тоже у чего чей чем чему что чтобы эта эти
это этого этот я

bir bu daha değil göre hangi hangileri hangisi hem idi ise için kadar kaç ki kimdi kimdir
kime kimin mi mu mü mı nasıl neden nedir neler nelerdir nerede nereden nereye olan olarak
oldu olduğu olduğunu sonra vardı ve veya zaman

ένα ένας έχει ήταν αν από αυτή αυτό για γιατί δεν είναι είχε η θα και κατά με μετά μια να ο
οι ποιά ποια ποιες ποιο ποιοι ποιον ποιος ποιου ποιός που πού προς πως πόσα πόσες πόσο πόσοι
πότε πώς σε στη στην στις στο στον στους τα τη την της τι τις το τον του τους των ως όταν

أن أو أي أية أين إلى إن التي الذي الذين بعد بين تم ثم حتى حيث ذلك على عن عند عندما في قبل قد
كان كانت كل كم كما كيف لا لم لما لماذا ما ماذا متى مع من منذ هذا هذه هل هم هو هي و ولا وما
ومن يتم

अपना अपनी अपने आप इन इस इसके इसे उन उस उसके उसने एक ऐसे ओर और कब कर करता करते करने कहा कहाँ
कहां का कि कितना कितनी कितने किया किस किसका किसके किसने किसी किसे की के कैसे को कौन कौनसा
कौनसी क्या क्यों गई गए गया जब जिस जो तक तथा तो था थी थे दिया दो द्वारा नहीं ने पर भी में यह
या ये रहा रहे लिए वह वाला वाले वे सकता से हुआ हुई हुए है हैं हो होता होती होने

ai bao cho các có của gì khi là mấy một nhiêu những nào sao thế trong tại từ và vì với đâu
đã được ở
"""
LANGUAGES = ("de", "fr", "es", "it", "pt", "nl", "ro", "pl", "ru", "tr", "el", "ar", "hi", "vi")
STOP_WORDS_OF = {"en": ENGLISH_STOP_WORDS} | {
    language: frozenset(words.split())
    for language, words in zip(LANGUAGES, _OTHER_STOP_WORDS.strip().split("\n\n"), strict=True)
}
STOP_WORDS = frozenset().union(*STOP_WORDS_OF.values())
LANGUAGE_CHARS = 20_000  # enough text to detect its language
# Words of negation in the same languages; for scripts without spaces, characters.
NEGATIONS = frozenset(
    """
not no never cannot without yet neither nor none nobody nothing hardly barely
nicht kein keine keinem keinen keiner keines nie niemals niemand nichts ohne weder kaum
ne pas jamais sans aucun aucune ni rien personne guère
nunca jamás sin ningún ninguno ninguna nadie nada tampoco apenas
non mai senza nessun nessuno nessuna niente nulla neanche
não sem nenhum nenhuma ninguém nem
niet geen nooit zonder niemand niets noch
nu niciodată fără nici nimeni nimic
nie nigdy bez żaden żadna żadne nikt nic ani
не нет никогда без ни никто ничего нельзя
değil hiç asla yok olmadan
δεν δε μη μην ποτέ χωρίς κανένας καμία κανένα τίποτα
لا لم لن ليس ليست بدون دون غير
नहीं न मत बिना कभी
không chưa chẳng
不 没 沒 未 无 無 非 않 못 없 안
""".split()
)
# Irregular forms of a word, one word per "|".
_FORMS = (
    "bear bore born borne|beat beaten|become became|begin began begun|bite bit bitten|bleed bled"
    "|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt"
    "|buy bought|catch caught|child children|choose chose chosen|cling clung|creep crept|deal dealt"
    "|die dice|dig dug|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten"
    "|fall fell fallen|far farther further furthest|feed fed|feel felt|fight fought|find found"
    "|flee fled|fling flung|fly flew flown|foot feet|forbid forbade forbidden"
    "|forget forgot forgotten|freeze froze frozen|goose geese|grind ground|grow grew grown"
    "|hang hung|hear heard|hide hid hidden|hold held|keep kept|kneel knelt|knife knives"
    "|know knew known|lay laid|lead led|leaf leaves|leave left|lend lent|life lives|light lit"
    "|lose lost|louse lice|make made|man men|mean meant|meet met|mouse mice|pay paid|person people"
    "|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought"
    "|sell sold|send sent|shake shook shaken|shine shone|shoot shot|shrink shrank shrunk"
    "|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent"
    "|spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung"
    "|strike struck|swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken"
    "|teach taught|tear tore torn|tell told|think thought|throw threw thrown|tooth teeth"
    "|understand understood|wake woke woken|wear wore worn|weave wove woven|weep wept|win won"
    "|wind wound|wolf wolves|woman women|worse worst bad|write wrote written|good better best"
)
# Words before a rounded number: rounded either way, down, up; one line per language.
_ROUNDED = """
about around approximately approx roughly circa ca some | over above exceeding more~than
    | nearly almost under below just~under close~to less~than fewer~than up~to
etwa ungefähr rund zirka gut~etwa | über mehr~als gut | fast knapp beinahe weniger~als unter
environ quelque autour~de près~de | plus~de | presque moins~de
unos unas alrededor~de aproximadamente cerca~de | más~de | casi menos~de
all'incirca intorno~a | oltre più~di | quasi meno~di
aproximadamente cerca~de por~volta~de | mais~de | quase menos~de
ongeveer rond | meer~dan ruim | bijna minder~dan
aproximativ circa~de vreo | peste mai~mult~de | aproape mai~puțin~de
około | ponad | prawie niemal
около примерно приблизительно | более больше свыше | почти менее
yaklaşık | |
περίπου | πάνω~από | σχεδόν
حوالي نحو | أكثر~من | قرابة
लगभग करीब | |
khoảng | hơn trên | gần
约 約 大约 | 超过 逾 | 近 将近 不到
"""


@functools.cache
def word_forms() -> dict[str, list[str]]:
    """Return the forms of each word that has irregular forms, including the word itself."""
    families = [family.split() for family in _FORMS.split("|")]
    return {word: family for family in families for word in family}


def rounding_words() -> list[str]:
    """Return patterns for the words before a rounded number: either way, down, up."""
    columns = zip(*(row.split("|") for row in re.split(r"\n(?! )", _ROUNDED.strip())), strict=True)
    texts = (" ".join(column).split() for column in columns)
    return ["|".join(re.escape(word).replace("\\~", r"\s") for word in words) for words in texts]


# Ranges for a character class. Thai, Lao, Burmese and Khmer have spaces only between phrases.
PHRASED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Scripts without spaces between words. Korean has spaces, but attaches particles to its words.
UNSPACED = (
    rf"{PHRASED}\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
# Languages that the script identifies, in this order: Japanese has kana in addition to Han.
SCRIPT_LANGUAGES = {
    "ja": r"[\u3040-\u30ff]", "ko": r"[\uac00-\ud7af]", "zh": r"[\u3400-\u4dbf\u4e00-\u9fff]{2}",
    "ru": r"[\u0400-\u04ff]{3}", "ar": r"[\u0620-\u064a]{3}", "he": r"[\u05d0-\u05ea]{3}",
    "el": r"[\u0370-\u03ff\u1f00-\u1fff]{3}", "th": r"[\u0e00-\u0e7f]{3}",
    "hi": r"[\u0900-\u097f]{3}",
}  # fmt: skip


def script_language(text: str) -> str:
    """Return the language of text in a script other than Latin, "" for Latin text.

    It may contain names in Latin letters; an English question about a foreign word is English.
    """
    if not ENGLISH_STOP_WORDS.isdisjoint(re.findall(r"[a-z]+", text.lower())):
        return ""
    scripts = SCRIPT_LANGUAGES.items()
    return next((language for language, script in scripts if re.search(script, text)), "")


def language_of(text: str) -> str:
    """Return the language (of LANGUAGES, or "en") with most common words in text; "" for none."""
    words = re.findall(r"[^\W\d_]+", text[:LANGUAGE_CHARS].lower())
    counts = {
        language: sum(word in common for word in words)
        for language, common in STOP_WORDS_OF.items()
    }
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] else ""

"""Numbers written as words, in the languages of websearch.base.words."""

from __future__ import annotations

import functools

# Per language: one to nineteen, the tens from twenty on, hundred, thousand, and the pattern that
# joins a ten and a unit. Slashes separate several words for one number.
_NUMBER_WORDS = {
    "en": (("one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
           "fifteen sixteen seventeen eighteen nineteen"),
           "twenty thirty forty fifty sixty seventy eighty ninety", "hundred", "thousand",
           "{ten}-{unit}"),
    "de": (("ein/eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
           "fünfzehn sechzehn siebzehn achtzehn neunzehn"),
           "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig", "hundert",
           "tausend", "{unit}und{ten}"),
    "fr": (("un/une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze "
           "quinze seize dix-sept dix-huit dix-neuf"), ("vingt trente quarante cinquante soixante "
           "soixante-dix/septante quatre-vingts/quatre-vingt quatre-vingt-dix/nonante"),
           "cent", "mille", "{ten}-{unit}"),
    "es": (("uno/una/un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce "
           "quince dieciséis diecisiete dieciocho diecinueve"),
           "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa", "cien", "mil",
           "{ten} y {unit}"),
    "it": (("uno/una due tre quattro cinque sei sette otto nove dieci undici dodici tredici "
           "quattordici quindici sedici diciassette diciotto diciannove"),
           "venti trenta quaranta cinquanta sessanta settanta ottanta novanta", "cento", "mille",
           "{ten}{unit}"),
    "pt": (("um/uma dois/duas três quatro cinco seis sete oito nove dez onze doze treze "
           "catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito "
           "dezenove/dezanove"),
           "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa", "cem", "mil",
           "{ten} e {unit}"),
    "nl": (("een/één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien "
           "vijftien zestien zeventien achttien negentien"),
           "twintig dertig veertig vijftig zestig zeventig tachtig negentig", "honderd", "duizend",
           "{unit}en{ten}"),
    "ro": (("unu/una doi/două trei patru cinci șase șapte opt nouă zece unsprezece "
           "doisprezece/douăsprezece treisprezece paisprezece cincisprezece șaisprezece "
           "șaptesprezece optsprezece nouăsprezece"),
           "douăzeci treizeci patruzeci cincizeci șaizeci șaptezeci optzeci nouăzeci", "sută",
           "mie", "{ten} și {unit}"),
    "pl": (("jeden dwa/dwie/dwóch trzy/trzech cztery/czterech pięć/pięciu sześć/sześciu "
           "siedem/siedmiu osiem/ośmiu dziewięć/dziewięciu dziesięć/dziesięciu jedenaście "
           "dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście "
           "dziewiętnaście"), ("dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt "
           "siedemdziesiąt osiemdziesiąt dziewięćdziesiąt"), "sto", "tysiąc", "{ten} {unit}"),
    "ru": (("один/одна два/две/двух три/трёх/трех четыре/четырёх/четырех пять/пяти шесть/шести "
           "семь/семи восемь/восьми девять/девяти десять/десяти одиннадцать двенадцать тринадцать "
           "четырнадцать пятнадцать шестнадцать семнадцать восемнадцать девятнадцать"),
           "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто", "сто",
           "тысяча", "{ten} {unit}"),
    "tr": (("bir iki üç dört beş altı yedi sekiz dokuz on on~bir on~iki on~üç on~dört on~beş "
           "on~altı on~yedi on~sekiz on~dokuz"),
           "yirmi otuz kırk elli altmış yetmiş seksen doksan", "yüz", "bin", "{ten} {unit}"),
    "el": (("ένα/μία δύο τρία/τρεις τέσσερα/τέσσερις πέντε έξι επτά/εφτά οκτώ/οχτώ εννέα/εννιά "
           "δέκα έντεκα δώδεκα δεκατρία/δεκατρείς δεκατέσσερα δεκαπέντε δεκαέξι δεκαεπτά δεκαοκτώ "
           "δεκαεννέα"), "είκοσι τριάντα σαράντα πενήντα εξήντα εβδομήντα ογδόντα ενενήντα",
           "εκατό", "χίλια", "{ten} {unit}"),
    "ar": (("واحد اثنان/اثنين ثلاثة/ثلاث أربعة/أربع خمسة/خمس ستة/ست سبعة/سبع ثمانية/ثماني "
           "تسعة/تسع عشرة/عشر أحد~عشر اثنا~عشر ثلاثة~عشر أربعة~عشر خمسة~عشر ستة~عشر سبعة~عشر "
           "ثمانية~عشر تسعة~عشر"), ("عشرون/عشرين ثلاثون/ثلاثين أربعون/أربعين خمسون/خمسين ستون/ستين "
           "سبعون/سبعين ثمانون/ثمانين تسعون/تسعين"), "مئة/مائة", "ألف", "{unit} و{ten}"),
    "hi": (("एक दो तीन चार पाँच/पांच छह/छः सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह "
           "सत्रह अठारह उन्नीस"), "बीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे", "सौ", "हज़ार/हजार", ""),
    "vi": (("một hai ba bốn năm sáu bảy tám chín mười mười~một mười~hai mười~ba mười~bốn mười~lăm "
           "mười~sáu mười~bảy mười~tám mười~chín"), ("hai~mươi ba~mươi bốn~mươi năm~mươi sáu~mươi "
           "bảy~mươi tám~mươi chín~mươi"), "trăm", "nghìn/ngàn", "{ten} {unit}"),
}  # fmt: skip
# Forms that do not follow the rule of their language.
_OTHER_NUMBER_WORDS = {
    "fr": {"vingt et un": 21, "trente et un": 31, "quarante et un": 41, "cinquante et un": 51,
           "soixante et un": 61, "soixante et onze": 71},
    "es": {"veintiuno": 21, "veintiún": 21, "veintidós": 22, "veintitrés": 23, "veinticuatro": 24,
           "veinticinco": 25, "veintiséis": 26, "veintisiete": 27, "veintiocho": 28,
           "veintinueve": 29, "ciento": 100},
}  # fmt: skip


@functools.cache
def number_words(language: str) -> dict[str, int]:
    """Return a language's words for two to ninety-nine, hundred and thousand, as numbers.

    Spaces and hyphens in a word are equivalent in a search. Hindi has a separate word for each
    number; above twenty only its tens are included.
    """
    first, tens, hundred, thousand, joined = _NUMBER_WORDS.get(language) or _NUMBER_WORDS["en"]

    def forms(text: str) -> list[list[str]]:
        return [word.replace("~", " ").split("/") for word in text.split()]

    words = {form: value for value, word in enumerate(forms(first), 1) for form in word}
    words |= {form: 10 * ten for ten, word in enumerate(forms(tens), 2) for form in word}
    units = [(form, value) for form, value in words.items() if value < 20]
    for form, ten in [item for item in words.items() if item[1] >= 20 and joined]:
        most = 20 if language == "fr" and ten in (60, 80) else 10
        for unit, value in units:
            if value < most:
                words.setdefault(joined.format(ten=form, unit=unit), ten + value)
                if language == "it" and unit[0] in "uo":  # ventuno, ventotto
                    words.setdefault(form[:-1] + unit, ten + value)
                if language == "nl" and unit.endswith("e"):  # tweeëntwintig
                    words.setdefault(f"{unit}ën{form}", ten + value)
    for word, value in ((hundred, 100), (thousand, 1_000)):
        words |= dict.fromkeys(word.split("/"), value)
    words |= _OTHER_NUMBER_WORDS.get(language, {})
    return {word: value for word, value in words.items() if value > 1}

"""Convert presentation MathML to TeX in linear time, with limited length and depth."""

from __future__ import annotations

import re
import unicodedata

from websearch.base.html_tree import name_set
from websearch.base.untrusted import unescape

MAX_MATHML = 300_000  # characters; longer MathML is not converted
MAX_DEPTH = 60  # levels of elements; deeper elements are written as text only
LEAVES = name_set("mi mn mo mtext ms")
BEFORE = "\0"  # in the list of parts: the scripts after it go before their base
UNSEEN = dict.fromkeys(name_set("mphantom annotation annotation-xml none maligngroup"), "")
UNSEEN["mprescripts"] = BEFORE
_SIGNS = (
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota "
    "κ kappa λ lambda μ mu µ mu ν nu ξ xi π pi ρ rho σ sigma ς varsigma τ tau υ upsilon φ varphi "
    "ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi "
    "Ψ Psi Ω Omega ± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ∘ circ ≤ leq ≥ geq ≠ neq ≈ approx "
    "≡ equiv ∼ sim ~ sim ≃ simeq ≅ cong ∝ propto ≪ ll ≫ gg ∈ in ∉ notin ∋ ni ⊂ subset ⊆ subseteq "
    "⊃ supset ⊇ supseteq ∪ cup ∩ cap ∖ setminus ∅ emptyset ∀ forall ∃ exists ¬ neg ∧ wedge ^ wedge "
    "∨ vee ⊕ oplus ⊗ otimes ⊥ perp ∥ parallel ∠ angle → to ← leftarrow ↔ leftrightarrow "
    "⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ⟹ implies ⟺ iff ↦ mapsto ∑ sum ∏ prod ∐ coprod "
    "∫ int ∬ iint ∮ oint ⋃ bigcup ⋂ bigcap ∂ partial ∇ nabla ∞ infty … ldots ⋯ cdots ⋮ vdots "
    "⋱ ddots ⟨ langle ⟩ rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ‖ Vert ∣ mid ′ prime ⋆ star "
    "ℓ ell ℏ hbar ¯ overline ‾ overline ˙ dot ¨ ddot ⏞ overbrace ⏟ underbrace ˇ check ˘ breve "
    "ℝ mathbb{R} ℕ mathbb{N} ℤ mathbb{Z} ℚ mathbb{Q} ℂ mathbb{C} \\ backslash"
).split()
SIGNS = {sign: f"\\{name} " for sign, name in zip(_SIGNS[::2], _SIGNS[1::2], strict=True)}
SIGNS |= {sign: f"\\{sign}" for sign in "%#&$_{}"} | {"−": "-"}
SIGNS |= dict.fromkeys("\u2061\u2062\u2063\u2064", "")  # invisible operators
_FUNCTION = (
    r"(?:arc)?(?:sin|cos|tan)h?|cot|sec|csc|log|ln|lg|exp|ker|dim|deg|hom|lim(?:sup|inf)?|max|min"
    r"|sup|inf|arg|det|gcd|Pr"
)
_LIMITS = r"\\(?:sum|prod|coprod|i*o?int|big\w+|lim\w*|max|min|sup|inf|arg|det|Pr|gcd)\b"
ACCENTS = {"wedge": "hat", "sim": "tilde", "to": "vec"}  # symbols above a letter
ACCENTS |= {name: name for name in "overline dot ddot overbrace underbrace check breve".split()}
VARIANTS = {
    "bold": "mathbf", "bold-italic": "boldsymbol", "double-struck": "mathbb", "script": "mathcal",
    "fraktur": "mathfrak", "sans-serif": "mathsf", "monospace": "mathtt", "normal": "mathrm",
}  # fmt: skip
FENCES = {"(": "pmatrix", "[": "bmatrix", "|": "vmatrix", "\\Vert ": "Vmatrix"}
FORMS = {
    "mfrac": r"\frac{{{0}}}{{{1}}}", "mroot": r"\sqrt[{1}]{{{0}}}",
    "atop": r"\genfrac{{}}{{}}{{0pt}}{{}}{{{0}}}{{{1}}}",
    "msup": "{0}^{{{1}}}", "msub": "{0}_{{{1}}}", "msubsup": "{0}_{{{1}}}^{{{2}}}",
    "munderover": "{0}_{{{1}}}^{{{2}}}", "mmultiscripts": "{0}_{{{1}}}^{{{2}}}",
    "mover": r"\overset{{{1}}}{{{0}}}", "munder": r"\underset{{{1}}}{{{0}}}",
}  # fmt: skip
# A base that needs no braces before a script: a symbol, a command or bracketed text.
_SINGLE = r"(?s)\\?[^\W_]+ ?|\\[a-zA-Z]+\{[^{}]*\}|[^{}^_]?|[(\[|].*[)\]|]"


def mathml_tex(mathml: str) -> str:
    """Convert the source of a math element to TeX; "" if it is too long or empty."""
    if len(mathml) > MAX_MATHML:
        return ""
    stack: list[tuple[str, str, list[str]]] = [("mrow", "", [])]  # name, tag and parts as TeX
    too_deep = 0
    for piece in mathml.split("<")[1:]:
        tag, _, text = piece.partition(">")
        found = re.match(r"(/?)(?:\w{1,20}:)?([a-z-]{1,20})(?![\w:])", tag)
        if not found:
            continue
        is_end, name = found.groups()
        if not is_end and len(stack) < MAX_DEPTH:
            stack.append((name, tag, []))
            if tag.endswith("/"):
                close_element(stack)
        elif not is_end:
            too_deep += not tag.endswith("/")
        elif too_deep:
            too_deep -= 1
        elif any(entry[0] == name for entry in stack[1:]):
            while close_element(stack) != name:
                pass
        if stack[-1][0] in LEAVES:
            stack[-1][2].append(text)
    while len(stack) > 1:
        close_element(stack)
    return re.sub(r"(\\[a-zA-Z]+) (?=[_^{}()\[\],.|])", r"\1", in_row(stack[0][2])).strip()


def close_element(stack: list[tuple[str, str, list[str]]]) -> str:
    """Write the innermost open element into its parent; return the closed element's name."""
    name, tag, parts = stack.pop()
    write = leaf_tex if name in LEAVES else element_tex
    stack[-1][2].append(write(name, tag, parts))
    return name


def leaf_tex(name: str, tag: str, parts: list[str]) -> str:
    """Return a name, number, operator or text as TeX."""
    text = re.sub(r"[ \t\r\n\f]+", " ", unescape("".join(parts))).strip(" ")
    if name in ("mtext", "ms"):
        text = re.sub(r"([%#&$_{}])", r"\\\1", text.replace("\\", "").replace("\xa0", " "))
        return f"\\text{{{text}}}" if text.strip() else "\\ "
    if re.fullmatch(_FUNCTION, text):
        return f"\\{text} "
    signs = (SIGNS[sign] if sign in SIGNS else unicodedata.normalize("NFKC", sign) for sign in text)
    tex = "".join(SIGNS.get(sign, sign) for sign in signs)
    variant = re.search(r"mathvariant=[\"']?([a-z-]+)", tag)
    command = VARIANTS.get(variant[1]) if variant and text.isascii() and text.isalpha() else None
    return f"\\{command}{{{tex}}}" if command else tex


def element_tex(name: str, tag: str, parts: list[str]) -> str:
    """Return an element as TeX; parts: its content as TeX."""
    if name in UNSEEN:
        return UNSEEN[name]
    if name == "semantics":
        return "".join(parts[:1])
    if name in ("mtr", "mtable", "mlabeledtr"):
        return table_tex(name, tag, parts)
    if name == "msqrt" or (name == "menclose" and "top" in tag):
        return f"\\{'sqrt' if name == 'msqrt' else 'overline'}{{{in_row(parts)}}}"
    if name == "mfenced":
        first, last = (re.search(rf"{side}=[\"']([^\"']*)", tag) for side in ("open", "close"))
        inner = ",".join(parts)
        return f"{unescape(first[1]) if first else '('}{inner}{unescape(last[1]) if last else ')'}"
    return script_tex(name, tag, parts) if name in FORMS else in_row(parts)


def script_tex(name: str, tag: str, parts: list[str]) -> str:
    """Return parts as TeX, set above, below or next to each other."""
    head = ""
    if BEFORE in parts:
        place = parts.index(BEFORE)
        low, high, *_ = [*parts[place + 1 :], "", ""]
        head, parts = f"{{}}_{{{low}}}^{{{high}}}", parts[:place]
    base, second, third, *_ = [*parts, "", "", ""]
    if name in ("mover", "munder"):
        if accent := ACCENTS.get(second.strip("\\ ")):
            return f"\\{accent}{{{base}}}"
        if re.match(_LIMITS, base):
            name = "msup" if name == "mover" else "msub"
    if name == "mfrac" and re.search(r"linethickness=[\"']?0", tag):
        name = "atop"
    if FORMS[name].startswith("{0}"):
        base = base if base and re.fullmatch(_SINGLE, base) else f"{{{base}}}"
    tex = head + FORMS[name].format(base, second, third)
    return tex.replace("_{}", "").replace("^{}", "") if name == "mmultiscripts" else tex


def table_tex(name: str, tag: str, parts: list[str]) -> str:
    """Return a table or row as TeX; a row's label follows the row."""
    if name == "mlabeledtr":
        return " & ".join(parts[1:]) + "\\qquad " + "".join(parts[:1])
    if name == "mtr" or len(parts) < 2:
        return " & ".join(parts)
    kind = "aligned" if re.search(r"columnalign=[\"']right", tag) else "matrix"
    rows = r" \\ ".join(parts)
    return f"\\begin{{{kind}}} {rows} \\end{{{kind}}}"


def in_row(parts: list[str]) -> str:
    """Return parts as TeX side by side; a table between brackets becomes a matrix with brackets."""
    if len(parts) == 3 and parts[0] in FENCES and parts[1].startswith("\\begin{matrix}"):
        inner = parts[1].removeprefix("\\begin{matrix}").removesuffix("\\end{matrix}")
        return f"\\begin{{{FENCES[parts[0]]}}}{inner}\\end{{{FENCES[parts[0]]}}}"
    return "".join(parts)

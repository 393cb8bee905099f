"""Facts beside the prose of a page are kept, shown after its text unless it is an article.

The only module that detects a price, date, author or row that a name or a place drops for good.
"""

from __future__ import annotations

import json
import re
import time
import unittest
from typing import Any

from websearch.pages.fetch.fetch import fetched_bytes
from websearch.reading.one_page import read_page

PROSE = (
    "<p>The ropewalk twists hemp that grows behind the dunes, and each rope is stretched for a day "
    "and a night before it is cut, weighed and sold to the boats of the coast.</p>"
) * 4
SHOWN = {  # HTML around or in the prose -> what a reader sees
    "product": (
        '<div class="product-info"><div class="price">84.50 €</div><p>14 in stock</p></div>',
        ("84.50 €", "14 in stock"),
    ),
    "event": (
        '<ul class="event-meta"><li><b>Date</b> 4 May</li><li><b>Entry</b> 12 crowns</li></ul>',
        ("4 May", "12 crowns"),
    ),
    "rating": ('<div class="rating">4.5 (38 votes)</div>', ("4.5 (38 votes)",)),
    "byline": ('<div class="byline">Mira Holt, 4 May 2026</div>', ("Mira Holt, 4 May 2026",)),
    "footer": ("<footer><p>Quay 4, 90210 Riverton</p></footer>", ("90210 Riverton",)),
    "lines": ("<footer><p>Quay 4<br>90210 Riverton</p></footer>", ("Quay 4  \n90210 Riverton",)),
    "footer of the prose": ("<section><footer>Updated 3 June</footer></section>", ("3 June",)),
    "menu named": ('<div class="navigation"><p>Ropes from 7 €</p></div>', ("Ropes from 7 €",)),
    "form": ("<form><p>Per meter: 9 €</p><input name=q><button>Buy</button></form>", ("9 €",)),
    "card": ('<a class="teaser" href="/r"><h3>Tarred rope</h3><p>7 €</p></a>', ("Tarred", "7 €")),
    "cards": (
        "".join(f"<div><a href=/{n}><h5>{n}</h5></a></div>" for n in ("Hemp", "Flax", "Jute")),
        ("Hemp\n\nFlax\n\nJute",),
    ),
    "cell": (
        ("<table><tr><th>Rope</th><th class=author>Maker</th></tr>"
        "<tr class=rating><td class=share>Hemp</td><td class=author>B7</td></tr></table>"),
        ("| Hemp | B7 |",),
    ),
    "empty cell": (
        ("<aside><table><tr><td><th>Tarred<th>Waxed<tr><td>Hemp<td><td>7 t<tr><td><td><td></table>"
        "<p>9 t</aside>"),
        ("|  | Tarred | Waxed |\n| --- | --- | --- |\n| Hemp |  | 7 t |\n\n9 t",),
    ),
    "word": ("<p>Take a group of <a class=tooltip>strands</a>, one or more.</p>", ("of strands,",)),
    "item": ("<ul><li>Hemp</li><li class=category>Flax</li></ul>", ("- Hemp\n- Flax",)),
    "sale": (
        ('<p class="price"><del aria-hidden="true">$84.00</del><span class="sr-only">Was: $84.00.'
         '</span> <ins aria-hidden="true">$61</ins><span class="sr-only">Now: $61.50.</span></p>'),
        ("Was: $84.00.", "Now: $61.50."),
    ),
    "drawing": ('<p>Votes: <i role="img" aria-label="4.5 of 5 stars"></i></p>', ("4.5 of 5",)),
    "drawing in a link": (
        ('<p>See <a href="/x">tar<span><i role=img aria-label="leads elsewhere"></i></span></a>, '
        "please.</p>"), ("See tar, please.",),
    ),
    "name of a function": ("<p>fn <a href=/c>copied</a>(self)</p>", ("fn copied(self)",)),
    "struck": ('<p><span style="text-decoration:line-through">40 €</span> 30 €</p>', ("~~40 €",)),
    "grid": (
        ("<div><span>500 g</span><span>rye</span><span>3 dl</span><span>milk</span>"
        "<span>1</span><span>egg</span></div>"), ("- 500 g rye\n- 3 dl milk\n- 1 egg",),
    ),
    "numbered lines": (
        "".join(f"<div class=line><p>{n}</p><p>A. We set sail.</p></div>" for n in (11, 12, 13)),
        ("11 A. We set sail.", "12 A. We set sail."),
    ),
    "headings of values": (
        3 * "<div class=spec><h6>Weight</h6><h5>2.4 kg</h5></div>", ("Weight: 2.4 kg",),
    ),
    "rows of pairs": (
        "".join(
            f'<div class=row><div class=day>{day}</div><div class="time"><b>{time}</b></div></div>'
            for day, time in (("Monday", "6:30-21:00"), ("Tuesday", "closed"), ("Sunday", "8-12"))
        ), ("Monday **6:30-21:00**", "Tuesday **closed**"),
    ),
    "question": (
        '<div><button aria-controls="a">Is it dry?</button><p id="a" hidden>Yes.</p></div>',
        ("**Is it dry?**\n\nYes.",),
    ),
    "question without names": (
        "<button class=accordion>Is it dry?</button><div>Yes.</div>", ("**Is it dry?**\n\nYes.",),
    ),
    "slide": (
        ('<div class="slick-slide" aria-hidden="true"><p>It turns.</p><cite><p>Jo Ray</p>'
        "<p>Captain</p></cite></div>"), ("It turns.", "Jo Ray\n\nCaptain"),
    ),
    "table in a dialog": (
        ('<div role="dialog" aria-hidden="true"><table><tr><td>Rope<td>Load<tr><td>Hemp<td>7 t<tr>'
        "<td>Flax<td>5 t</table></div>"), ("| Hemp | 7 t |",),
    ),
    "choice": (
        "<form><select><option>Size<option>20 cm<option>30 cm</select></form>", ("20 cm, 30 cm",),
    ),
    "number beside words": (
        '<p><b aria-hidden="true">4.5 \u2605</b><i class="sr-only">Rated well</i></p>', ("4.5",),
    ),
    "elements of a library": (
        3 * "<x-row><x-name>Load</x-name><x-value>2 t</x-value></x-row>", ("Load 2 t",),
    ),
    "cell of comments": (
        "<table><tr><td>Comments</td><td class=comments>3 pages</td></tr></table>", ("3 pages",),
    ),
    "parts of a link": (
        ("<p><a href=/x><span><span class=a>Ropes</span><span class=b>Sold here</span></span></a>"
        "</p>"), ("Ropes Sold here",),
    ),
    "equal prices": (
        "<footer><h4>Hemp</h4><p>7 €</p><h4>Flax</h4><p>7 €</p></footer>",
        ("Hemp\n\n7 €\n\n#### Flax\n\n7 €",),
    ),
    "tags of cards": (
        3 * "<div><h3>Wanted: a ropemaker</h3><ul class=tags><li>90 crowns<li>Riverton</ul></div>",
        ("### Wanted: a ropemaker\n\n- 90 crowns\n- Riverton",),
    ),
    "titles of cards": (
        "".join(
            f"<div><div><h3><a href=/{name}>{name} for the boats</a></h3></div>{price} €</div>"
            for name, price in (("Hemp ropes", 7), ("Flax ropes", 9), ("Jute ropes", 5))
        ),
        ("### Flax ropes for the boats\n\n9 €\n\n### Jute",),
    ),
    "label and value": ("<div>Load:<div>2 t</div></div>", ("Load: 2 t",)),
    "pairs on lines": (
        "".join(f"<div><i>{rope}</i><span>2 t</span></div>" for rope in ("Hemp", "Flax", "Jute")),
        ("*Hemp* 2 t", "*Flax* 2 t"),
    ),
    "card on a line": (
        "<aside><ul><li><a href=/r><h3>Tar</h3><i>$7</i></a></ul></aside>", ("Tar *$7*",),
    ),
    "years and lengths": (
        "<div><span class=x>2026</span><span class=x>1h 54m</span></div>", ("2026 1h 54m",),
    ),
    "verse": (
        ("<p><a href=/1>Turn the wheel</a><br><a href=/2>turn it slow</a><br><a href=/3>home we go"
        "</a></p>"), ("turn it slow",),
    ),
}  # fmt: skip
MENU = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in ("Wharf", "Kiln", "Mint"))
UNSEEN = {
    "menu": (f"<div><ul>{MENU}</ul></div>", "Kiln"),
    "menu in a sidebar": (f"<aside><h2>Places</h2><ul>{MENU}</ul></aside>", "Places"),
    "nav": ("<nav><p>The kiln has 3 ovens.</p></nav>", "ovens"),
    "hidden": ('<aside><p style="display:none">Ovens: 3 €</p></aside>', "Ovens"),
    "copy of a slide": (
        '<div class="slick-slide slick-cloned" aria-hidden="true"><p>3 ovens</p></div>',
        "ovens",
    ),
    "dialog": ('<div role="dialog" aria-hidden="true"><p>3 ovens, 7 €</p></div>', "ovens"),
    "filter": (
        "<form><select class=filter><option>3 ovens<option>4 ovens</select></form>",
        "ovens",
    ),
    "button": ("<aside><button>Buy 3 ovens</button></aside>", "ovens"),
    "empty footer": ("<footer><p>All rights reserved</p></footer>", "reserved"),
    "numbers of pages": (
        "<div class=pager><a href=?p=1>1</a> <a href=?p=2>2</a> <a href=?p=2>Next</a></div>",
        "Next",
    ),
    "links of a footer": (
        "<footer><p>90210 Riverton</p><ul><li><a href=/w>Wharf</a></ul></footer>",
        "Wharf",
    ),
    "labels of a footer": (
        "<footer><p>90210 Riverton</p><dl><dt>Places<dd><a href=/w>Wharf</a></dl></footer>",
        "Places",
    ),
    "cook mode": ("<p>Cook Mode <span>Prevent your screen from going dark</span></p>", "screen"),
    "pin": ('<div><a href="https://pinterest.example/pin/create">Pin It</a></div>', "Pin"),
    "action": ("<div><span>Jump to Recipe</span></div>", "Jump"),
    "no snippet": ("<p>The <span data-nosnippet>kiln has 3 ovens</span>.</p>", "ovens"),
    "no snippet beside": ("<aside data-nosnippet><p>Ovens: 3 €</p></aside>", "Ovens"),
}


def read(beside: str, head: str = "", after: str = "", **params: Any) -> Any:
    """Return the page with an element before the prose and one after it."""
    prose = f"<div>{PROSE}{after}</div>"
    html = f"<title>Ropewalk</title>{head}<main><h1>Ropewalk</h1>{beside}{prose}</main>"
    answer = fetched_bytes("https://x.example/", html.encode(), "text/html")
    return read_page(answer, params, time.monotonic() + 20)


class Beside(unittest.TestCase):
    def test_facts_are_shown(self) -> None:
        for name, (html, values) in SHOWN.items():
            with self.subTest(name):
                text = read(html).text
                for value in values:
                    self.assertIn(value, text)

    def test_bylines_of_posts_stay_with_their_posts(self) -> None:
        posts = (
            f"<div class=post><p class=author>by {name} on 4 May</p><p>Use {part} for it."
            f"{' It lies on the quay all winter.' * 20}</p></div>"
            for name, part in (("mira", "tar"), ("jo", "wax"), ("ada", "hemp"))
        )
        html = "".join(posts)
        live = '<script type="application/ld+json">{"@type": "LiveBlogPosting"}</script>'
        article = "<meta property=og:type content=article>"
        words = ("by mira on 4 May", "Use tar", "by jo on 4 May", "Use wax", "by ada", "Use hemp")
        for head in ("", article + live):
            text = read("", head, after=html).text
            places = [text.index(word) for word in words]
            self.assertEqual(places, sorted(places))

    def test_the_author_of_several_posts_is_named_each_time(self) -> None:
        facts = "".join(
            f"<div>{fact}</div>"
            for fact in ("Ropemaker", "4 May 2019", "1,204 posts", "Ropes and nets")
        )
        pane = f"<div class=user><h4>Mira Holt of Riverton</h4>{facts}</div>"
        linked = "<div class=user><h4><a href=/m>Mira Holt of Riverton</a></h4></div>"
        forum = '<link rel=canonical href="https://forum.x.example/t/1">'
        for box in (pane, linked):
            posts = (
                f"<article class=post>{box}<p>Use {part} for the {what} that lies on the quay all "
                f"winter, and do not forget the {what} of your neighbor.</p></article>"
                for part, what in (("tar", "rope"), ("wax", "net"), ("oil", "winch"))
            )
            page = read("", forum, after="".join(posts))
            self.assertEqual(page.text.count("Mira Holt"), 3)
            self.assertLess(page.text.rindex("Mira Holt"), page.text.index("oil"))

    def test_a_question_and_its_answers_are_above_their_authors_and_dates(self) -> None:
        answers = "".join(
            f"<div><p>Use {part} for the {part} rope of the boat, all winter.</p><div><div>"
            "<a href=/s>Share</a> <a href=/i>Improve this answer</a></div>"
            f"<div class=post-signature><a href=/e>edited 5 May at 8:3{day}</a><div "
            f"itemprop=editor></div></div><div class=post-signature>on <a href=/u><img alt="
            f'"{name}\'s user avatar"></a><div itemprop=author><a href=/u>{name}</a></div></div>'
            f"</div></div><ul class=comments><li>Is {part} dear?</ul>"
            for day, (name, part) in enumerate((("Mira Holt", "tar"), ("Jo Quay", "wax")))
        )
        question = "<div><p>Which oil keeps the rope of a boat dry all winter?</p></div>"
        text = read(question, "<meta itemtype=https://schema.org/QAPage>", after=answers).text
        words = (
            "Which oil",
            "Use tar",
            "at 8:30",
            "Mira Holt",
            "Is tar dear",
            "Use wax",
            "at 8:31",
            "Jo Quay",
        )
        places = [text.index(word) for word in words]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("avatar", text)

    def test_a_heading_after_the_date_of_its_card_is_kept(self) -> None:
        card = (
            f"<div><div><b>14 May</b>{'<i></i>' * 20}<h3><a href=/k>Meeting of the net makers</a>"
            "</h3></div><p>In the loft above the ropewalk, second door.</p></div>"
        )
        text = read("", after=card).text
        self.assertLess(text.index("Meeting of the net"), text.index("In the loft"))

    def test_a_picture_that_is_shown_again_is_written_once(self) -> None:
        images = "".join(f'<div><img src={n}.jpg alt="Coil of hemp {n}"></div>' for n in range(4))
        self.assertEqual(read("", after=images).text.count("Coil of hemp"), 1)

    def test_the_name_of_a_product_stays_with_its_price(self) -> None:
        cards = "".join(
            f"<div><div><a href=/r>{name} for the boats</a></div><p>{price} € a meter</p></div>"
            for name, price in (("Hemp ropes", 7), ("Flax ropes", 9))
        )
        text = read(
            "", after=f"{cards}<p>Longer ropes are made to order in the winter months."
        ).text
        self.assertIn("Hemp ropes for the boats\n\n7 € a meter\n\nFlax ropes for", text)

    def test_a_price_with_the_name_of_an_advertisement_stays_with_its_product(self) -> None:
        for name in ("price-promo", "ad-price", "price-tag"):
            cards = "".join(
                f"<div>{rope} for the boats<div class={name}>{price} crowns now</div></div>"
                for rope, price in (("Hemp ropes", 107), ("Flax ropes", 209))
            )
            text = read("", after=f"{cards}<p>Longer ropes are made to order.</p>").text
            self.assertRegex(text, "Hemp ropes for the boats\\s+107 crowns now\\s+Flax ropes")

    def test_menus_and_unseen_parts_are_not_kept(self) -> None:
        for name, (html, word) in UNSEEN.items():
            with self.subTest(name):
                page = read(html)
                self.assertNotIn(word, page.text + page.outside)

    def test_an_article_keeps_them_for_questions_only(self) -> None:
        article = '<meta property="og:type" content="article">'
        html = '<div class="byline">Mira Holt, 4 May 2026</div>'
        page = read(html, article)
        self.assertNotIn("Mira Holt", page.text)
        self.assertIn("Mira Holt, 4 May 2026", page.outside)
        for name in ("page page-id-7", "single single-product"):  # WordPress; both are not posts
            self.assertIn("Mira Holt", read(html, f"{article}<body class='{name}'>").text)
            posting = '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
            page = read(html, f"{article}{posting}<body class='{name}'>")
            self.assertNotIn("Mira Holt", page.text)

    def test_frames_of_documentation_are_not_kept(self) -> None:
        links = (
            "<p>previous</p><a rel=prev href=/a>Hemp 3.1</a><p>next</p><a rel=next href=/b>Tar</a>"
        )
        footer = "<footer><p>&copy; 2023 Ropewalk. Made with a kiln 5.3.0</p></footer>"
        frames = f"<div>{links}</div>{footer}"
        html = f"<title>Ropes</title>{{}}<main><h1>Ropes</h1>{PROSE}</main><div>{frames}</div>"
        for head, is_kept in (("<meta name=generator content='Sphinx 7.2'>", False), ("", True)):
            answer = fetched_bytes("https://x.example/", html.format(head).encode(), "text/html")
            page = read_page(answer, {}, time.monotonic() + 20)
            both = f"{page.text}\n\n{page.outside}"
            with self.subTest(head):
                self.assertEqual("5.3.0" in both, is_kept)
                self.assertEqual("Hemp 3.1" in both, is_kept)

    def test_a_section_under_a_heading_of_related_pages_is_text_unless_it_has_links(self) -> None:
        article = '<meta property="og:type" content="article">'
        for title in ("Latest version", "Recommended settings", "More about hemp", "Related work"):
            heading = f"<h2>{title}</h2>"
            for block in ("<p>Tar it twice.</p>", "<ul><li>Tar: twice</li></ul>"):
                with self.subTest(title, block=block):
                    text = read("", article, f"{heading}{block}<p>Sold by us.</p>").text
                    self.assertRegex(text, f"## {title}\n\n.*Tar.* twice")
            links = "<ul><li><a href=/tar>Tar it twice</a></li></ul>"
            self.assertNotIn("Tar", read("", article, heading + links).text)

    def test_what_the_text_has_is_not_repeated(self) -> None:
        self.assertEqual(read(f"<aside>{PROSE}</aside>").text.count("hemp"), 4)

    def test_explain_gives_each_verdict_with_its_reason(self) -> None:
        html = f"<nav>{MENU}</nav><aside><p>Open 9:00</p></aside><p hidden>Hidden</p>"
        found = {one["text"]: one for one in read(html, explain=True).fields["dropped"]}
        for text, verdict, rule in (
            ("Wharf Kiln Mint", "furniture", "menu"),
            ("Open 9:00", "beside", "sidebar"),
            ("Hidden", "unseen", "hidden"),
        ):
            self.assertEqual((found[text]["verdict"], found[text]["rule"]), (verdict, rule))


class OwnData(unittest.TestCase):
    """Boxes with values that the page's schema.org data lists are text, wherever they stand."""

    FLOUR, MILK = "500 g rye flour", "3 dl milk"
    DATA = (
        ("Recipe", {"recipeIngredient": [FLOUR, MILK]}),
        (
            "Product",
            {"additionalProperty": [{"name": "500", "value": "g rye flour"}, {"value": MILK}]},
        ),
        ("HowTo", {"supply": [{"name": FLOUR}, {"name": MILK}]}),
        ("FAQPage", {"mainEntity": [{"name": FLOUR, "acceptedAnswer": {"text": MILK}}]}),
    )

    def test_they_are_in_the_text_of_an_article(self) -> None:
        box = "<aside class=related><ul><li>500 g rye flour</li><li>3 dl milk</li></ul></aside>"
        for kind, fields in self.DATA:
            data = json.dumps({"@context": "https://schema.org", "@type": kind, **fields})
            head = '<meta property="og:type" content="article"><script type="application/ld+json">'
            with self.subTest(kind):
                text = read(box, f"{head}{data}</script>").text
                self.assertTrue(text.endswith("\n\n- 500 g rye flour\n- 3 dl milk"))

    def test_a_value_in_a_button_is_shown(self) -> None:
        fields = {"@type": "Product", "additionalProperty": [{"name": "Load", "value": "Two tons"}]}
        data = json.dumps({"@context": "https://schema.org", **fields})
        buttons = "<div><button>Load <b>Two tons</b></button><button>Buy</button></div>"
        text = read(buttons, f'<script type="application/ld+json">{data}</script>').text
        self.assertIn("Load **Two tons**", text)
        self.assertNotIn("Buy", text)

    def test_a_visible_single_value_is_never_dropped(self) -> None:
        for kind, fields, shown in (
            ("Event", {"location": {"name": "Net loft"}}, "Net loft"),
            ("Event", {"startDate": "2026-05-04T18:30"}, "<time datetime=2026-05-04>May</time>"),
            ("CafeOrBakery", {"address": {"streetAddress": "Tar Quay"}}, "Tar Quay, Riverton"),
            ("Store", {"openingHours": ["Mo-Fr"]}, "Mo-Fr"),
            ("ItemList", {"itemListElement": [{"name": "Tarred rope"}]}, "Tarred rope"),
            ("NewsArticle", {"author": {"@type": "Person", "name": "Mira Holt"}}, "Mira Holt"),
            ("Product", {"offers": [{"price": 617}]}, "617 crowns"),
        ):
            data = json.dumps({"@context": "https://schema.org", "@type": kind, **fields})
            nav = f"<nav><ul><li>{shown}</li><li>Wharf</li></ul></nav>"
            page = read(nav, f'<script type="application/ld+json">{data}</script>')
            with self.subTest(shown):
                found = re.sub("(?m)^- .*: .*", "", page.text + "\n\n" + page.outside)
                self.assertIn(re.sub("<[^>]*>", "", shown), found)
                self.assertNotIn("Wharf", found)

    def test_the_limit_of_length_does_not_cut_values(self) -> None:
        data = '{"@context": "https://schema.org", "@type": "Event", "location": "Net loft"}'
        article = '<meta property="og:type" content="article">'
        long = "".join(f"<p>Rope {number}: 7 €</p>" for number in range(2_000))
        page = read(
            f"<aside>{long}<p>Net loft</p></aside>",
            f'{article}<script type="application/ld+json">{data}</script>',
        )
        self.assertNotIn("Rope 1999", page.text)
        self.assertIn("\n\nNet loft", page.text)


if __name__ == "__main__":
    unittest.main()

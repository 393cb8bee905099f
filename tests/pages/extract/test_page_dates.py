"""The days on which a page was published and changed, from its URL, data and markup.

The only module that detects the choice of a wrong date.
"""

from __future__ import annotations

import unittest
from datetime import datetime, timedelta, timezone

from websearch.pages.extract import dates, metadata, page_tree

ADDRESS = "https://site.example/news/a-title"
HEADING = "<title>The fog at the coast | Site</title><h1>The fog at the coast</h1>"


def fields_of(html: str, address: str = ADDRESS, language: str = "") -> dict[str, str]:
    """Return the metadata of a page."""
    html = f"<html lang='{language}'>{html}"
    fields: dict[str, str] = metadata.find_metadata(page_tree.PageTree(html), address).fields
    return fields


def published(html: str, address: str = ADDRESS, language: str = "") -> str:
    return fields_of(html, address, language).get("published", "")


def linked_data(fields: str) -> str:
    return f'<script type="application/ld+json">{fields}</script>'


class Written(unittest.TestCase):
    """The forms in which people and programs write a day."""

    def test_days_are_read_in_many_forms_and_languages(self) -> None:
        for text, day in (
            ("2020-03-05", "2020-03-05"),
            ("2020/3/5 09:20", "2020-03-05"),
            ("5.3.2020", "2020-03-05"),
            ("05. 03. 20 | 13:10 Uhr", "2020-03-05"),
            ("25/3/2020", "2020-03-25"),
            ("3/25/2020", "2020-03-25"),
            ("5 March 2020", "2020-03-05"),
            ("March 5th, 2020", "2020-03-05"),
            ("Thu Mar 05 09:35:14 CET 2020", "2020-03-05"),
            ("Thu, 05 Mar 2020 09:12:22 +0100", "2020-03-05"),
            ("am 5. März 2020", "2020-03-05"),
            ("le 5 février 2020", "2020-02-05"),
            ("1er août 2020", "2020-08-01"),
            ("5 de enero de 2020", "2020-01-05"),
            ("5 de março de 2020", "2020-03-05"),
            ("5 ottobre 2020", "2020-10-05"),
            ("5 mei 2020", "2020-05-05"),
            ("5 września 2020", "2020-09-05"),
            ("5 мая 2020 г.", "2020-05-05"),
            ("2020. június 5.", "2020-06-05"),
            ("5 Ağustos 2020", "2020-08-05"),
            ("2020年3月5日", "2020-03-05"),
            ("2020년 3월 5일", "2020-03-05"),
        ):
            with self.subTest(text):
                html = f"{HEADING}<p class=byline>By Ann Keeper | {text}</p>"
                self.assertEqual(published(html), day)

    def test_the_language_decides_which_number_is_the_month(self) -> None:
        html = f"{HEADING}<p class=date>4/5/2020</p>"
        for language, day in (("en-US", "2020-04-05"), ("en-GB", "2020-05-04")):
            self.assertEqual(published(html, language=language), day)

    def test_other_numbers_are_not_dates(self) -> None:
        future = (datetime.now(timezone.utc).date() + timedelta(days=3)).isoformat()
        for text in (
            "2024-99-99", "2023-02-29", "1970-01-01", "1989-12-31", future, "5 Smarch 2020", "2024",
            "Copyright 2024 Foo", "version 1.2.3.4", "PT5M", "+1 202 555 0100", "30 of 2020",
        ):  # fmt: skip
            data = f'{{"@type": "Article", "datePublished": "{text}"}}'
            for html in (
                f"<meta name=date content='{text}'>", f"<p class=date>{text}</p>",
                f"<time datetime='{text}'>x</time>", linked_data(data),
            ):  # fmt: skip
                self.assertNotIn("published", fields_of(HEADING + html), (text, html))


class Sources(unittest.TestCase):
    """Sources of a day, the most trusted first."""

    ALL = (
        ("https://site.example/2020/01/01/title", ""),
        (ADDRESS, "<meta property='article:published_time' content='2020-01-02'>"),
        (ADDRESS, linked_data('{"@type": "NewsArticle", "datePublished": "2020-01-03"}')),
        (ADDRESS, "<div class='post-date'>January 4, 2020</div>"),
        (ADDRESS, "<p>text</p>" * 20 + "<time datetime='2020-01-05'>x</time>"),
        (ADDRESS, "<p>6 January 2020 | Coast</p>"),
    )

    def test_the_most_trusted_source_wins(self) -> None:
        address, html = ADDRESS, ""
        for number in range(len(self.ALL), 0, -1):
            if number != 5:  # a time element is farther away, but wins
                html = self.ALL[number - 1][1] + html
            else:
                html += self.ALL[number - 1][1]
            address = self.ALL[number - 1][0]
            with self.subTest(number):
                page = page_tree.PageTree(HEADING + html)
                meta, items = metadata.meta_values(page), metadata.data_items(page)
                found = dates.find_dates(page, address, meta, items, "")
                self.assertEqual(found.published, f"2020-01-0{number}")
                self.assertEqual(found.stage, dates.STAGES[number - 1])

    def test_urls_name_days_in_several_ways(self) -> None:
        for path, day in (
            ("2020/03/05/title", "2020-03-05"), ("news/2020/mar/05/title", "2020-03-05"),
            ("news-2020-03-05.html", "2020-03-05"), ("20200305/title", "2020-03-05"),
            ("2020/03/5-things", ""), ("2020/13/05/", ""), ("12020/03/05/", ""),
            ("?from=2020/03/05/", ""),
        ):  # fmt: skip
            self.assertEqual(published(HEADING, f"https://site.example/{path}"), day, path)

    def test_the_article_precedes_other_data_and_the_page(self) -> None:
        items = (
            '{"@type": "WebPage", "datePublished": "2020-01-01"}',
            '{"@type": "VideoObject", "name": "V", "uploadDate": "2020-01-02"}',
            '{"@type": "NewsArticle", "headline": "A", "datePublished": "2020-01-03"}',
        )
        for number in (3, 2, 1):
            data = linked_data(f'{{"@graph": [{", ".join(items[:number])}]}}')
            self.assertEqual(published(data), f"2020-01-0{number}")
        other = linked_data('{"@type": "Organization", "datePublished": "2020-01-01"}')
        self.assertNotIn("published", fields_of(other))

    def test_data_with_text_around_it_is_read(self) -> None:
        item = '{"@type": "Article", "datePublished": "2020-01-01"}'
        for text in (f"{item};", f"//<![CDATA[\n{item}\n//]]>", f"{item}{item}", f"[{item}] x"):
            self.assertEqual(published(linked_data(text)), "2020-01-01", text)

    def test_clocks_comments_and_other_pages_are_skipped(self) -> None:
        shown = "<time datetime='2020-01-05'>x</time>"
        for html in (
            f"<div class='current-date'>{shown}</div>",
            f"<div id=comments><div class=date>{shown}</div></div>",
            f"<aside class=meta>{shown}</aside>", f"<nav>{shown}</nav>",
            f"<div class='related-posts'><span class=published>{shown}</span></div>",
            f"<footer><p class=date>{shown}</p></footer>",
        ):  # fmt: skip
            self.assertNotIn("published", fields_of(HEADING + "<p>text</p>" * 20 + html), html)
        own = f"<article>{HEADING}<p>text</p><footer class=entry-footer>{shown}</footer></article>"
        self.assertEqual(published(own), "2020-01-05")

    def test_a_lone_date_beside_the_text_counts_near_the_heading(self) -> None:
        time = "<time datetime='2020-01-05'>x</time>"
        for html in (
            f"{HEADING}<aside class=meta><p>{time}</p></aside>",
            f"{HEADING}{'<p>text</p>' * 30}<div class=sidebar><b class=published>5.1.2020</b>",
        ):
            self.assertEqual(published(html), "2020-01-05", html)
        two = f"{HEADING}<aside class=meta>{time}<time datetime='2020-02-07'>y</time></aside>"
        self.assertNotIn("published", fields_of(two))

    def test_the_day_may_come_first_in_a_url(self) -> None:
        for address, day in (
            ("https://example.org/news/23-01-2022-a-race", "2022-01-23"),
            ("https://example.org/news/03-01-2022-a-race", ""),
        ):
            found = dates.address_dates(address)
            self.assertEqual([str(written.day) for written in found], [day] if day else [])

    def test_dates_of_other_things_are_ignored(self) -> None:
        day = "4 January 2020"
        prose = "The ferry ran for the first time on {}, a Saturday, with forty people on board. "
        retrieved = f"<span class=reference-accessdate>Retrieved <span>{day}</span></span>"
        for html in (
            f"<ol class=references><li><span class='citation web'>Foo. {retrieved}</span></ol>",
            f"<p>a<cite class=citation title='{day}'>Foo</cite></p>",
            f"<table class=infobox><tr><th>Opened<td class=date>{day}</table>",
            "<table><caption>Ferries</caption><tr><td><time datetime=2020-01-04>x</table>",
            f"<figure><img src=x><figcaption class=meta>{day}</figcaption></figure>",
            "<p>text</p>" * 20 + f"<div class=metadata>{day}</div>",
            f"<div class=infobox>{day}</div>", f"<p>{prose.format(day)}</p>",
            f"<p>{prose.format(f'<time>{day}</time>') * 6}</p>",
            "<p>text</p>" * 20 + f"<div class=candidate-list>{day}</div>",
            f"<h2>Eclipse of {day}</h2>",
        ):  # fmt: skip
            self.assertNotIn("published", fields_of(HEADING + html), html)
        for before in (
            f"<header><p class=date>{day}</header>", f"<div id=masthead><time>{day}</time></div>",
            f"<p id=clock class=date>{day}</p>", f"<div class='today date'>{day}</div>",
        ):  # fmt: skip
            self.assertNotIn("published", fields_of(before + HEADING), before)
        for own in (
            f"<div class=postMeta>{day}</div>", f"<div class=meta>{day}</div>",
            f"<div class=footer><p><span class=date>{day}</span></div>",
            f"<table><tr><td>By Ann Keeper, {day}</table>",
        ):  # fmt: skip
            self.assertEqual(published(HEADING + own), "2020-01-04", own)

    def test_days_of_events_and_deadlines_are_ignored(self) -> None:
        day = "5 March 2020"
        for html in (
            f"<p class=event-date>Event: <time datetime='2020-03-05T10:00'>{day}</time></p>",
            f"<div class=start-date>{day}</div><div class=endDate>6 March 2020</div>",
            f"<div class='deadline date'>{day}</div>",
            f"<ul class=meta><li>Closing date: {day}</ul>",
            f"<div class=event-meta><ul><li>Date: {day}</ul></div>",
            f"<blockquote class=post-meta>Ann <a href='/1'>{day}</a></blockquote>",
        ):
            with self.subTest(html):
                self.assertEqual(published(f"{HEADING}{html}"), "")
        self.assertEqual(published(f"{HEADING}<div class=date>{day}</div>"), "2020-03-05")
        date = f"<div class={{}}>{day}</div>"
        page = f"<div class='event page'>{HEADING}{date}</div>"
        self.assertEqual(published(page.format("date")), "")
        self.assertEqual(published(page.format("published-date")), "2020-03-05")

    def test_a_line_that_says_published_or_updated_is_the_last_source(self) -> None:
        line = f"{HEADING}{'<p>text</p>' * 30}<footer><p>{{}}</footer>"
        for text in (
            "Published: 5 March 2020", "Erschienen am: 05.03.2020", "Last modified 2020-03-05",
            "Dieser Artikel wurde am 5. März 2020 um 14:48 von Ann geschrieben.",
        ):  # fmt: skip
            self.assertEqual(published(line.format(text)), "2020-03-05", text)
        several = "Published 5 March 2020<p>Published 6 March 2020"
        for text in ("Opened 5 March 2020", several, "<p class=comment>Posted 5 March 2020"):
            self.assertEqual(published(line.format(text)), "", text)
        own = "<aside><b itemprop=datePublished content=2020-03-05>x</b></aside>"
        html = f"<article>{HEADING}{own}</article><p class=comment><time>4.3.2020</time>"
        self.assertEqual(published(html), "2020-03-05")

    def test_the_date_nearest_to_the_heading_wins(self) -> None:
        card = "<div class=card><span class=date>{}</span><h3>Other</h3><p>text</p></div>"
        html = (
            card.format("1.1.2020") + HEADING + "<p>lead</p><span class=date>2.1.2020</span>"
            + "<p>text</p>" * 10 + card.format("3.1.2020")
        )  # fmt: skip
        self.assertEqual(published(html), "2020-01-02")


class TimeZones(unittest.TestCase):
    """A time in UTC may fall on the day before or after the day that readers see."""

    def test_near_midnight_the_day_on_the_page_wins(self) -> None:
        meta = "<meta property='article:published_time' content='{}'>"
        for moment, shown, day in (
            ("2023-11-09T01:49:09Z", "November 8, 2023", "2023-11-08"),
            ("2023-11-09T01:49:09+00:00", "November 8, 2023", "2023-11-08"),
            ("2023-11-01T23:01:00Z", "2 novembre 2023", "2023-11-02"),
            ("2023-11-09T01:49:09Z", "November 9, 2023", "2023-11-09T01:49:09Z"),
            ("2023-11-09T01:49:09Z", "November 5, 2023", "2023-11-09T01:49:09Z"),
            ("2023-11-09T01:49:09-05:00", "November 8, 2023", "2023-11-09T01:49:09-05:00"),
        ):
            html = meta.format(moment) + HEADING + f"<p class=date>{shown}</p>"
            self.assertEqual(published(html), day, (moment, shown))
        local = '{"@type": "Article", "datePublished": "2023-11-08T20:49:09-05:00"}'
        html = meta.format("2023-11-09T01:49:09Z") + HEADING + linked_data(local)
        self.assertEqual(published(html), "2023-11-08T20:49:09-05:00")

    def test_a_space_before_the_zone_is_removed(self) -> None:
        for moment, zone in (("T10:11:12 +0100", "+0100"), (" 10:11:12 UTC", "Z")):
            html = f"<meta name=pubdate content='2020-03-05{moment}'>"
            self.assertEqual(published(html), f"2020-03-05T10:11:12{zone}")

    def test_the_time_comes_from_any_source_of_the_same_day(self) -> None:
        html = "<meta name=pubdate content='2020-03-05T10:11:12+01:00'>"
        address = "https://site.example/2020/03/05/title"
        self.assertEqual(published(html, address), "2020-03-05T10:11:12+01:00")


class Changes(unittest.TestCase):
    """The date of a change, in addition to the date of publication."""

    def test_a_later_change_is_returned(self) -> None:
        first = "<meta name=date content=2020-01-01>"
        for html in (
            "<meta property='article:modified_time' content='2021-02-03'>",
            linked_data('{"@type": "WebPage", "dateModified": "2021-02-03"}'),
            f"{HEADING}<p class='last-modified date'>3.2.2021</p>",
            f"{HEADING}<p class=date>1.1.2020, zuletzt aktualisiert am 3.2.2021</p>",
        ):
            fields = fields_of(first + html)
            self.assertEqual(fields["published"], "2020-01-01", html)
            self.assertEqual(fields["updated"], "2021-02-03", html)
        same = "<meta property='article:modified_time' content='2020-01-01T10:00:00Z'>"
        self.assertNotIn("updated", fields_of(first + same))

    def test_a_page_with_only_a_change_date_has_that_day(self) -> None:
        fields = fields_of(f"{HEADING}<p class=info>Aktualisiert: 30.12.2016</p>")
        self.assertEqual(fields["published"], "2016-12-30")
        self.assertNotIn("updated", fields)


if __name__ == "__main__":
    unittest.main()

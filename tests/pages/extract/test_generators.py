"""Pages of documentation generators, and pages older than style sheets.

The only module that detects lost code, notes or lists of a generator. The pages imitate the output
of each generator.
"""

from __future__ import annotations

import unittest

from websearch.pages.extract import content, markdown

PROSE = "<p>The library reads a file of settings, and each line of the file names one of them.</p>"
STORY = "The bridge was closed in May because the flood had moved two of its five stone piers. "


def documentation(body: str, generator: str = "Docutils", links: bool = False) -> str:
    """Return a page of documentation as Markdown. generator: its meta element, or its HTML."""
    meta = f'<meta name="generator" content="{generator}">'
    head = generator if generator.startswith("<") else meta
    html = f"<html><head><title>Quill</title>{head}</head><body>{PROSE}{body}</body></html>"
    return str(markdown.extract_markdown(html, "https://site.example/dir/page", links))


class Code(unittest.TestCase):
    def test_code_keeps_its_lines_and_all_characters(self) -> None:
        line = '<div class="ec-line"><div class="code">{}</div></div>'
        for html, text in (
            # Expressive Code: an empty line has a line break.
            (
                '<pre data-language="js"><code>'
                + "".join(map(line.format, ("<span>a</span>", "\n", "<b>c</b>")))
                + "</code></pre>",
                "```js\na\n\nc\n```",
            ),
            # highlight.js: lines are rows next to their numbers.
            ("<pre><table><tr><td>a<tr><td><tr><td>c</table></pre>", "```\na\n\nc\n```"),
            # Pygments: the code is a cell; the language is above the table.
            (
                (
                    '<div class="language-yaml highlight"><table><tr><th colspan=2>a.yml<tr>'
                    "<td class=linenos><pre>1</pre><td><div><pre>site: b</pre></div></table>"
                    "</div>"
                ),
                "a.yml\n\n```yaml\nsite: b\n```",
            ),
            # Node.js: the same example as a module and as a script, with a switch between them.
            (
                (
                    "<pre><input type=checkbox checked><code>import a from 'a';</code>"
                    "<code>const a = require('a');</code><button>copy</button></pre>"
                ),
                "import a from 'a';\nconst a = require('a');",
            ),
            # Names of languages: Microsoft's documentation, Confluence, VuePress.
            ("<pre><code class=lang-azurecli>az login</code></pre>", "```azurecli\naz login\n```"),
            (
                '<pre data-syntaxhighlighter-params="brush: java; gutter: false">int a;</pre>',
                "```java\nint a;\n```",
            ),
            (
                (
                    "<div class=code-tab><div class='language-sh line-numbers-mode'><pre><code>"
                    "quill</code></pre></div></div>"
                ),
                "```sh\nquill\n```",
            ),
            # Classes that name no language: VitePress, Slate.
            ('<pre class="language- theme-x"><code>quill</code></pre>', "```\nquill\n```"),
            (
                '<pre class="highlight tab tab-python"><code>import quill</code></pre>',
                "```python\nimport quill\n```",
            ),
            # A box that contains only lines of code: Rspress.
            (
                "<div class=language-sh><div><code>quill\n  --ink</code></div></div>",
                "```sh\nquill\n  --ink\n```",
            ),
            ("<div><code>quill --ink</code></div>", "\n`quill --ink`"),
            # A link in code that is only punctuation is an operator, not a permalink.
            ('<pre>proc <a href="#==,a">`==`</a>(a: <a href=b#a>T</a>)</pre>', "proc `==`(a: T)"),
            ('<pre>a <a href="x#op">==</a> b</pre>', "```\na == b\n```"),
        ):
            with self.subTest(html[:60]):
                self.assertIn(text, documentation(html))

    def test_a_data_table_may_contain_a_line_of_code(self) -> None:
        rows = "<tr><th>Tool<th>Command<tr><td>git<td><pre>git pull</pre>"
        text = documentation(f"<table>{rows}</table>")
        self.assertIn("| git | `git pull` |", text)

    def test_parameters_of_a_parameter_are_below_its_table(self) -> None:
        head = "<table><thead><tr><th>Name<th>Use</thead><tbody>"
        inner = f"{head}<tr><td>ink<td>its color</table>"
        rows = f"<tr><td>pen<td>A pen.<h6>Properties</h6>{inner}<tr><td>force<td>How hard."
        self.assertIn(
            "| pen | A pen. |\n| force | How hard. |\n\n**pen**\n\n###### Properties\n\n"
            "| Name | Use |\n| --- | --- |\n| ink | its color |",
            documentation(f"{head}{rows}</table>"),
        )

    def test_a_table_may_have_one_row_unless_it_is_a_note(self) -> None:
        row = "<tr><td>{}<td><div>integer</div><div>How hard.</div>"
        name = "<span>force</span><div>required</div>"
        text = documentation(f"<table>{row.format(name)}</table>")
        self.assertIn("| force required | integer How hard. |", text)
        note = f'<div class="admonitionblock note"><table>{row.format("Note")}</table></div>'
        self.assertIn("Note\n\ninteger\n\nHow hard.", documentation(note))


class Generators(unittest.TestCase):
    def test_frames_of_generators_are_dropped(self) -> None:
        nim = "<!--  This file is generated by Nim.  -->"
        haddock = '<script src="haddock-bundle.min.js"></script>'
        for generator, body in (
            ("Doxygen 1.9.4", "<div id=top><div id=titlearea>GONE</div></div><p>STAYS"),
            ("Doxygen 1.9.4", "<div class=dynheader>GONE diagram for x:</div><p>STAYS"),
            ("Doxygen 1.9.4", '<p>STAYS <a href="#d">More...</a><p class=definition>GONE at line'),
            (
                haddock,
                (
                    '<p class=src>f :: STAYS <a href="src/M.html#f" class=link>Source</a>'
                    '<a href="#v:f" class=selflink>#</a></p>'
                ),
            ),
            (
                nim,
                (
                    "<dl><dt><pre>proc f() {.<span class=pragmadots>...</span><i>raises</i>.}</pre>"
                    "<dd>STAYS <a class=link-seesrc href=a.nim#L1>Source</a>"
                ),
            ),
            (
                "rustdoc",
                (
                    "<a id=toggle-all-docs>[GONE]</a><details open><summary class=hideme>"
                    "GONE</summary><p>STAYS <a href=a>Read more</a></details>"
                ),
            ),
            (
                "<!-- Book generated using mdBook -->",
                (
                    "<div id=mdbook-help-container><div id=mdbook-help-popup><h2>GONE</h2>"
                    "<p>Press <kbd>?</kbd> to show GONE</p></div></div><main><p>STAYS</main>"
                ),
            ),
            (
                "GTK-Doc V1.20",
                (
                    "<table class=navigation><tr><td><a accesskey=p href=a><img alt=Prev>"
                    "</a><td><a accesskey=n href=b><img alt=Next></a><th>GONE</table><h2>STAYS</h2>"
                ),
            ),
        ):
            with self.subTest(f"{generator} {body[:40]}"):
                text = documentation(body, generator)
                self.assertIn("STAYS", text)
                for gone in ("GONE", "More...", "Source", "#\n", "...", "Read more", "Prev"):
                    self.assertNotIn(gone, text)

    def test_labels_come_before_their_notes_and_tabs(self) -> None:
        note = (
            '<aside aria-label="Caution" class="aside caution"><p aria-hidden="true">Caution</p>'
            "<div class=aside__content><p>It is hot.</p></div></aside>"
        )
        tab = '<li role=presentation><a role=tab href="#{0}">{0}</a></li>'
        panel = '<div id="{0}" role=tabpanel><p>{0} install quill</p></div>'
        tabs = "".join(map(tab.format, ("npm", "pnpm")))
        panels = "".join(map(panel.format, ("npm", "pnpm")))
        text = documentation(f"{note}<div><ul role=tablist>{tabs}</ul></div>{panels}", "Starlight")
        self.assertIn("Caution\n\nIt is hot.", text)
        self.assertIn("**npm**\n\nnpm install quill\n\n**pnpm**\n\npnpm install", text)

    def test_a_panel_that_begins_with_its_label_has_it_once(self) -> None:
        tab = "<button role=tab aria-controls={0}>{0}</button>"
        panel = "<div id={0} role=tabpanel><div>{0}</div><p>{0} install quill</p></div>"
        tabs = "".join(map(tab.format, ("npm", "pnpm")))
        panels = "".join(map(panel.format, ("npm", "pnpm")))
        text = documentation(f"<div><div role=tablist>{tabs}</div>{panels}</div>", "VuePress")
        self.assertIn("**npm**\n\nnpm install quill\n\n**pnpm**\n\npnpm install", text)

    def test_a_list_of_contents_is_no_row_of_tabs(self) -> None:
        item = '<li><a href="#{0}">{0}</a></li>'
        heads = "".join(f"<h2 id={name}>{name}</h2>{PROSE}" for name in ("tabs", "boxes"))
        links = "".join(map(item.format, ("tabs", "boxes")))
        self.assertNotIn("**", documentation(f"<ul>{links}</ul><div>{heads}</div>"))

    def test_a_footer_names_the_generator(self) -> None:
        member = (
            "<section class=x-comment><div class=x-comment><p>{0}.</p></div></section>"
            "<div class=x-tag-since><h4>Since</h4><p>1.2.0</p></div>"
        )
        body = f"<h1>Pen</h1><main>{PROSE * 3}{member.format('It writes')}</main>"
        html = f"{body}<footer>Generated using {{}}"
        for name in ("TypeDoc", "<a href=x>JSDoc</a> 4.0"):
            text = markdown.extract_markdown(html.format(name))
            self.assertTrue(text.endswith("\n\nIt writes.\n\n#### Since\n\n1.2.0"), text)
        self.assertNotIn("It writes", markdown.extract_markdown(html.format("love")))

    def test_signs_of_a_signature_are_not_apart_from_its_types(self) -> None:
        word = "<span class=x-{}>{}</span>".format
        signs = word("symbol", "[]"), word("symbol", "&gt;")
        types = word("type", "Pen"), word("type", "string")
        text = documentation(f"<div>take(pen: {types[0]}&lt;{types[1]}{signs[0]}{signs[1]})</div>")
        self.assertIn("take(pen: Pen<string[]>)", text)
        heading = f"<h3><code class=x-tag>Static</code>{word('name', 'take')}</h3>"
        self.assertIn("### `Static` take", documentation(heading))

    def test_buttons_show_requests_and_responses(self) -> None:
        request = "<button><span class=http-verb>get</span><span>/pens</span></button>"
        response = "<button><strong>200</strong><div><p>All pens</p></div></button>"
        text = documentation(f"<div>{request}</div><div>{response}</div><button>Copy</button>")
        self.assertTrue(text.endswith("get /pens\n\n**200**\n\nAll pens"), text)
        files = "<ul><li><button>pens</button><ul><li>quill.py</ul></ul>"
        self.assertIn("- pens\n  - quill.py", documentation(files))

    def test_an_alert_in_documentation_is_a_box(self) -> None:
        alert = "<div role=alert class=callout><h5>Mind it</h5><p>It is hot.</p></div>"
        self.assertIn("##### Mind it\n\nIt is hot.", documentation(alert))

    def test_a_note_is_the_target_of_its_number_not_its_description(self) -> None:
        mark = "<sup><a class=stickyNavbar href='#n1' aria-describedby=label>1</a></sup>"
        notes = "<section><h2 id=label class=sr-only>Footnotes</h2><ol><li id=n1><p>Its note.</ol>"
        text = documentation(f"<p>A feather{mark} is light.</p>{notes}")
        self.assertTrue(text.endswith("A feather[1] is light.\n\n1. Its note."), text)
        raised = "<sup class=footnote>[<a class=footnote href='#n1'>1</a>]</sup>"
        self.assertIn("A feather.[1]", documentation(f"<p>A feather.{raised}</p>"))

    def test_a_short_description_before_the_only_prose_stays(self) -> None:
        prose = "<h2>Properties</h2><p>The length of the pen in millimeters, without its cap."
        html = (
            '<meta name=generator content="Astro v5"><meta name=generator content="dartdoc 8">'
            f"<main><h1>Pen</h1><section><p>A pen.</p></section><section>{prose}</section></main>"
        )
        self.assertTrue(markdown.extract_markdown(html).startswith("A pen.\n\n## Properties"))

    def test_types_of_parameters_are_no_bylines(self) -> None:
        body = "<div><b>load</b> <span class=api-property-meta>integer</span></div>"
        self.assertIn("**load** integer", documentation(body, "Fern"))

    def test_a_remark_in_a_tree_of_files_is_text(self) -> None:
        tree = "<ul><li><span>quill.js</span> <span class=comment>the entry</span></li></ul>"
        self.assertIn("- quill.js the entry", documentation(tree, "Starlight"))

    def test_a_note_that_is_named_an_aside_is_text(self) -> None:
        note = '<aside class="starlight-aside starlight-aside--tip"><p>Press softly.</p></aside>'
        self.assertIn("Press softly.", documentation(note, "Astro"))
        aside = '<aside class="page-aside"><p>Press softly.</p></aside>'
        self.assertNotIn("Press softly.", documentation(aside, "Astro"))

    def test_labels_of_tabs_without_panels_of_their_own(self) -> None:
        tab = "<button role=tab {}>{}</button>"
        rows = tab.format("", "npm") + tab.format("aria-selected=true", "yarn")
        shown = "<div><div role=tabpanel><pre>yarn add quill</pre></div><span></span></div>"
        text = documentation(f"<div><div role=tablist>{rows}</div>{shown}</div>", "Mintlify")
        self.assertIn("**yarn**\n\n```\nyarn add quill\n```", text)
        self.assertNotIn("npm", text)
        rows = "<li id=a><p>npm</p></li><li id=b><p>yarn</p></li>"
        panel = "<div class=tabpanel aria-labelledby={}><pre>{} add quill</pre></div>"
        panels = panel.format("a", "npm") + panel.format("b", "yarn")
        text = documentation(f"<div><ul>{rows}</ul></div>{panels}", "Antora")
        for name in ("npm", "yarn"):
            self.assertIn(f"**{name}**\n\n```\n{name} add quill\n```", text)
        buttons = "<button>cURL</button><button>Python</button>"
        codes = "<pre><code>curl quill</code></pre><pre><code>import quill</code></pre>"
        for inside, text in (
            (codes, "**cURL**\n\n```\ncurl quill\n```\n\n**Python**\n\n```\nimport quill\n```"),
            ("<p>One stroke.</p><p>Two strokes.</p>", "One stroke.\n\nTwo strokes."),
        ):
            tabs = f"<div><div class=CodeTabs-toolbar>{buttons}</div><div>{inside}</div></div>"
            self.assertTrue(documentation(tabs, "ReadMe").endswith(f"\n\n{text}"))
        items = "<li><button>npm</button></li><li><button>yarn</button></li>"
        boxes = "".join(f"<div><pre>{name} add quill</pre></div>" for name in ("npm", "yarn"))
        text = documentation(f"<div><div><ul>{items}</ul></div>{boxes}</div>", "VuePress")
        for name in ("npm", "yarn"):
            self.assertIn(f"**{name}**\n\n```\n{name} add quill\n```", text)

    def test_buttons_named_tabs_have_panels_of_any_text(self) -> None:
        tabs = "".join(f"<button class=tab>{name}</button>" for name in ("npm", "yarn"))
        panels = "<div><p>Fast.</p></div><div><p>Older than most of the others.</p></div>"
        box = f'<i id=""></i><div class=tabs><div class=nav-tabs>{tabs}</div><div>{panels}</div>'
        text = documentation(f"{box}</div>", "Hexo")
        self.assertIn("**npm**\n\nFast.\n\n**yarn**\n\nOlder", text)

    def test_a_declaration_stays_if_each_of_its_names_is_a_link(self) -> None:
        names = " ".join(
            f'<a href="trait.{name}.html">{name}</a>' for name in ("Feather", "Parchment")
        )
        page = f"<main><pre>fn zip({names})</pre><div>{PROSE * 4}</div></main>"
        text = markdown.extract_markdown(f'<meta name="generator" content="rustdoc">{page}')
        self.assertIn("```\nfn zip(Feather Parchment)\n```", text)

    def test_an_items_version_is_below_its_name(self) -> None:
        item = (
            "<section><span class=rightside><span class=since>{1}</span> · "
            '<a class=src href="../src/vec.rs.html#9">Source</a></span>'
            "<a href='#{0}' class=anchor></a><h4>fn {0}()</h4></section>"
            "<p>It does {0}."
        )
        items = (("own", "1.0.0"), ("push", "1.0.0"), ("drain", "1.6.0"))
        text = documentation("".join(item.format(*one) for one in items), "rustdoc")
        self.assertIn(
            "#### fn own()\n\nSince 1.0.0\n\nIt does own.\n\n"
            "#### fn push()\n\nIt does push.\n\n"
            "#### fn drain()\n\nSince 1.6.0\n\nIt does drain.",
            text,
        )

    def test_a_summary_is_a_table(self) -> None:
        head = "".join(
            f'<div class="table-header col-{place}">{label}</div>'
            for place, label in (("first", "Type"), ("second", "Method"), ("last", "Description"))
        )
        row = (
            '<div class="col-first even-row-color"><code>int</code></div><div class="col-second">'
            '<code><a href="#{0}()">{0}</a>()</code></div><div class="col-last"><div class=block>'
            "Returns the {0}.</div></div>"
        )
        html = "<p>A net of knots.<div class='summary-table three'>{}</div>"
        text = documentation(
            html.format(head + row.format("width") + row.format("mesh")), "javadoc/ClassWriter"
        )
        self.assertIn(
            "| Type | Method | Description |\n| --- | --- | --- |\n| `int` | `width()` | Returns "
            "the width. |\n| `int` | `mesh()` | Returns the mesh. |",
            text,
        )

    def test_linked_operators_are_no_permalinks(self) -> None:
        link = '<a href="ops.html#{1}">{0}</a>'
        cells = "".join(
            f"<tr><td>{link.format(text, 'a')}<td>left"
            for text in ("<code>*</code>", "<code>?</code>", "+")
        )
        text = documentation(f"<table><tr><th>Operator<th>From{cells}</table>")
        self.assertIn("| `*` | left |\n| `?` | left |\n| + | left |", text)
        heading = '<h2><a class=header href="#q"><code>::</code></a></h2><p>A path.'
        self.assertIn("## `::`\n\nA path.", documentation(heading))

    def test_an_index_is_its_links(self) -> None:
        links = "".join(f'<li><a href="{name}.html">Chapter {name}</a>' for name in range(40))
        banner = "<header><div><h1>Quill 2.20.2 documentation</h1></div></header>"
        text = markdown.extract_markdown(
            f"<title>Index</title><body><div>{banner}<div><ul>{links}</ul></div></div>"
        )
        self.assertEqual(text.count("- Chapter "), 40)

    def test_links_to_functions_are_no_links_to_neighbors(self) -> None:
        link = '<a href="trait.Quill.html#m.{0}"><code>{0}</code></a>'
        links = map(link.format, ("next()", "previous()"))
        text = documentation(f"<div>Finds a feather. See {' and '.join(links)}.</div>", "rustdoc")
        self.assertIn("Finds a feather. See `next()` and `previous()`.", text)

    def test_a_generators_class_names_mean_nothing_elsewhere(self) -> None:
        text = documentation("<p class=definition>A quill is a feather.<p class=legend>Its key.")
        self.assertIn("A quill is a feather.\n\nIts key.", text)

    def test_a_doxygen_declaration_is_a_line_of_code(self) -> None:
        members = (
            "<table class=memberdecls><tr><td colspan=2><h2>Functions</h2><tr>"
            "<td class=memItemLeft>const <a href=T.html>T</a> &amp;&#160;"
            "<td class=memItemRight><a href=#a>read</a> (int n)"
            "<tr><td class=mdescLeft>&#160;<td class=mdescRight>Reads a line.</table>"
            "<table class=memname><tr><td class=memname>void quill::Reader::stop <td>("
            "<td class=paramtype>int&#160;<td class=paramname><em>n</em><td>)</table>"
        )
        lines = "## Functions\n\n`const T & read (int n)`\n\nReads a line.\n\n"
        self.assertIn(f"{lines}`void quill::Reader::stop ( int n )`", documentation(members))
        linked = documentation(members, links=True)
        self.assertIn("`const` [`T`](https://site.example/dir/T.html) `& read (int n)`", linked)

    def test_arrows_and_contents_boxes_are_dropped(self) -> None:
        contents = (
            '<div class=quick><h3>GONE</h3><ul class=toc><li><a href="#a">GONE the first</a>'
            '<li><a href="#b">GONE the second</a></ul><h3>GONE</h3><ul><li><a href="/c">GONE of '
            "bugs</a><li><a href=/d>GONE of users</a></ul></div>"
        )
        arrow = '<div class=top><a href="#top"><img alt=GONE src=up.gif></a></div>'
        text = documentation(
            f"{contents}<h2 id=a>First</h2>{PROSE}{arrow}<h2 id=b>Second</h2>{PROSE}"
        )
        self.assertNotIn("GONE", text)
        self.assertIn("## First", text)


class OldPages(unittest.TestCase):
    """Pages without names: their structure shows what their text is."""

    def test_dated_replies_are_comments_of_readers(self) -> None:
        reply = (
            "<div><b>Ann</b> <i>May {} 2012, 10:4{}</i><p>I was there and saw it, too.</p></div>"
        )
        replies = "".join(reply.format(day, day) for day in range(1, 6))
        post = f"<div><h1>Bridge</h1><p>{STORY * 6}</p><p>{STORY * 6}</p></div>"
        for around in ("<div class=talk>{}</div>", '<div class="commentary comment">{}</div>'):
            text = content.extract(f"<body>{post}{around.format(replies * 4)}</body>")
            self.assertIn("two of its five", text)
            self.assertNotIn("I was there", text)
        long = replies.replace("I was there and saw it, too.", STORY * 14)
        text = content.extract(f"<body>{post}<div class=talk>{long}</div></body>")
        self.assertIn("Ann", text)  # longer than the first post: a discussion

    def test_without_style_sheets_boxes_next_to_text_are_text(self) -> None:
        text = f"<h2>Minutes</h2><p>{STORY * 5}</p><p>{STORY * 5}</p>"
        votes = "<h3>Present</h3><ul><li>J. Doe</ul><h3>Votes</h3><p>For: 5, and against: 2 of the"
        menu = "<a href=/>GONE one</a> | <a href=/a>GONE two</a> | <a href=/b>GONE three</a>"
        for html in (
            f"<div>{text}</div><div>{votes} members who were present.</div><center>{menu}</center>",
            (
                f"<table><tr><td>{menu.replace('|', '<br>')}<td><div>{text}</div><div>{votes} "
                "members who were present.</div></table>"
            ),
            f"<p>{menu}</p><blockquote>{text}</blockquote>{votes} members who were present.",
        ):
            with self.subTest(html[:50]):
                found = content.extract(f"<body bgcolor=white>{html}</body>")
                self.assertNotIn("GONE", found)
                self.assertIn("J. Doe", found)
                self.assertIn("For: 5", found)
        styled = f"<div class=a>{text}</div><div class=b>{votes} members.</div><div class=c>x</div>"
        self.assertNotIn("J. Doe", content.extract(f"<body>{styled}</body>"))


class Structures(unittest.TestCase):
    """What several generators write in the same way."""

    def test_code_keeps_the_lines_around_a_box_inside_it(self) -> None:
        box = (
            '<div class=part><a class=viewcode-back href="a.html#f">[docs]</a><b>def</b> f():</div>'
        )
        code = f"<pre><b>import</b> os\n<b>import</b> re\n\n{box}\n    <i>pass</i>\n</pre>"
        self.assertIn("import os\nimport re\n\ndef f():\n\n    pass\n```", documentation(code))

    def test_a_column_of_line_numbers_is_no_code(self) -> None:
        cells = "<td><pre class={}>8\n9</pre></td><td><pre>a = 1\nb = 2</pre></td>"
        for name in ("lines", "line-numbers"):
            text = documentation(f"<table><tr>{cells.format(name)}</tr></table>")
            self.assertIn("```\na = 1\nb = 2\n```", text)
            self.assertNotIn("8", text)
        inline = "<span class=line-numbers><a href=#n{0}>{0}</a></span>a = {0}\n"
        text = documentation(f"<pre><code>{inline.format(1)}{inline.format(2)}</code></pre>")
        self.assertIn("```\na = 1\na = 2\n```", text)
        self.assertIn("```\n42\n```", documentation("<pre class=line-numbers>42</pre>"))

    def test_numbers_of_explanations_stay_in_code(self) -> None:
        code = '<pre>open(x) <img src="1.png" alt="1">\nread(x) <img src="a.png" alt="arrow"></pre>'
        self.assertIn("open(x) (1)\nread(x)\n```", documentation(code))

    def test_the_attribute_of_the_code_names_the_language(self) -> None:
        for html, language in (
            ('<pre class="highlight nowrap"><code data-lang=diff>-a</code></pre>', "diff"),
            ("<div class='example lisp'><pre class=example>(a)</pre></div>", "lisp"),
            ("<div class='box basic'><pre>a</pre></div>", ""),
        ):
            self.assertIn(f"\n\n```{language}\n", documentation(html))

    def test_a_declaration_in_a_table_is_one_line(self) -> None:
        names = "<td class=memname>int f</td><td>(</td><td>char *</td><td>path,</td>"
        html = f"<table class=memname><tr>{names}</tr><tr><td></td><td>int limit</td></tr></table>"
        self.assertIn("`int f ( char * path, int limit`", documentation(html))
        cells = "<td><code>int <b>f</b>(</code></td><td>char *path,</td></tr><tr><td></td>"
        html = f"<table class=funcprototype-table><tr>{cells}<td>int limit);</td></tr></table>"
        self.assertIn("`int f( char *path, int limit);`", documentation(html))

    def test_the_icon_of_a_note_is_its_label(self) -> None:
        row = "<table><tr><td>{}</td><td>Ink is wet.</td></tr></table>"
        for icon in ("<i class=icon-tip title=Tip></i>", "<img src=icons/tip.png alt=Tip>"):
            self.assertIn("\n\nTip\n\nInk is wet.", documentation(row.format(icon), links=True))
        self.assertIn("| Tip | Ink is wet. |", documentation(row.format("Tip")))

    def test_an_item_of_a_list_is_text_although_it_is_named_as_a_category(self) -> None:
        item = '<li><div class="CategoryTree"><a href="/{0}">{0} {1}</a> (2 C)</div></li>'
        titles = (("Pens", "by color"), ("Inks", "of trees and of soot, by the year of their name"))
        items = "".join(item.format(*title) for title in titles)
        text = documentation(f"<h2>Subcategories</h2><ul>{items}</ul>")
        self.assertIn("- Pens by color (2 C)\n- Inks of trees", text)

    def test_details_are_text_whatever_their_names(self) -> None:
        for name in ("dropdown card", "hide above-input", "menu"):
            html = f"<details class='{name}'><summary>Why?</summary><p>So.</p></details>"
            self.assertIn("**Why?**\n\nSo.", documentation(html))

    def test_a_label_between_its_button_and_its_panel_is_the_panels(self) -> None:
        tab = "<input type=radio id={0}><label for={0}>{0}</label><div><p>Use {0}.</p></div>"
        text = documentation(f"<div>{tab.format('pip')}{tab.format('conda')}</div>")
        self.assertIn("**pip**\n\nUse pip.\n\n**conda**\n\nUse conda.", text)

    def test_pieces_of_one_emphasis_are_joined(self) -> None:
        html = "<p>x (<em>list</em><em>[</em><em>int</em><em>]</em>), <b>a</b><i>b</i></p>"
        self.assertIn("x (*list[int]*), **a***b*", documentation(html))

    def test_lists_are_lettered_by_their_class(self) -> None:
        text = documentation("<ol class='loweralpha simple'><li>ink<li>pen</ol>")
        self.assertIn("- a. ink\n- b. pen", text)

    def test_icons_of_tasks_are_states(self) -> None:
        item = "<li><p><i class='fa fa-{}'></i> {}</p></li>"
        items = item.format("check-square-o", "ink") + item.format("square-o", "pen")
        self.assertIn("- [x] ink\n- [ ] pen", documentation(f"<ul>{items}</ul>"))

    def test_tags_are_text_if_they_are_no_links(self) -> None:
        tags = "<div class=tags><p>Parameters:</p><ul><li>ink — the color</li></ul></div>"
        self.assertIn("- ink — the color", documentation(tags))
        topics = "<div class=tags><a href=/ink>ink</a> <a href=/pen>pen</a></div>"
        self.assertNotIn("ink", documentation(f"{PROSE}{topics}{PROSE}"))

    def test_facts_in_a_table_are_no_byline(self) -> None:
        facts = "<div class=meta><table><tr><td>Version<td>1.0<tr><td>License<td>MIT</table></div>"
        html = f"<html><body><h1>Quill</h1>{PROSE}{facts}{PROSE}</body></html>"
        self.assertIn("| License | MIT |", markdown.extract_markdown(html))

    def test_terms_with_permalinks_are_documentation(self) -> None:
        links = '<a href="m.py#L1">[source]</a><a href="#{0}">¶</a>'
        term = f"<dt id={{0}}>{{0}}() {links}</dt><dd>Draws.</dd>"
        terms = "".join(map(term.format, ("pen", "ink", "nib")))
        text = markdown.extract_markdown(f"<body>{PROSE}<dl>{terms}</dl></body>", "", True)
        self.assertIn("- **pen()**\n  Draws.", text)

    def test_contents_of_a_page_go_and_those_of_a_book_stay(self) -> None:
        item = "<li><a href='{}'>Chapter on {}</a></li>"
        for addresses, is_kept in ((("#a", "#b"), False), (("a.html", "b.html"), True)):
            items = "".join(map(item.format, addresses, ("pens", "inks")))
            html = f"<h2>Book</h2><div id=toc><div>Contents</div><ul>{items}</ul></div>{PROSE}"
            self.assertEqual(is_kept, "Chapter on inks" in documentation(html))
            self.assertEqual(is_kept, "Contents" in documentation(html))

    def test_tex_in_the_text_is_a_formula_if_a_script_draws_it(self) -> None:
        body = r"<p>So \(a_1\) and</p><div class=math><span>(1)</span>\[b \\[2pt] c\]</div>"
        script = '<script src="https://cdn.example/MathJax.js"></script>'
        text = documentation(f"{body}<pre>\\(x\\)</pre>{script}")
        self.assertIn("So $a_1$ and\n\n(1)\n\n$$b \\\\[2pt] c$$\n\n```\n\\(x\\)\n```", text)
        self.assertNotIn("$", documentation(r"<p>The pattern \(a\) here.</p>"))

    def test_actions_on_code_are_dropped(self) -> None:
        html = (
            "<h2>Pens <small><a href=#>collapse</a></small></h2><p>Text of pens."
            "<div><span>nib</span><span>(x)</span><span>click to toggle source</span></div>"
            "<div>class Ink: <label for=a>View Source</label></div>"
        )
        text = documentation(html, "pdoc 15")
        self.assertIn("## Pens\n\nText of pens.\n\nnib(x)\n\nclass Ink:", text)
        self.assertNotIn("ource", text)


if __name__ == "__main__":
    unittest.main()

"""The model of blocks of text; tests/bench/train_blocks.py writes this file."""

# ruff: noqa: E501, PLR0915, RUF059, UP034
# fmt: off
from __future__ import annotations

# Score -> words of class, id, tag and role that stand around more (or less) content than others.
_WORDS = {
    -14:
    "bio repeater",
    -13:
    "<aside commentform copyright metadata object prev related respond role=banner "
    "role=complementary role=contentinfo role=search social textwidget",
    -12:
    "<address <form <header akismet ancestor announcement author backdrop biography buttons byline "
    "consent contact cookie ctas email fields form invisible login masthead meta pinterest popup "
    "prop=about prop=datepublished role=navigation searchform share sharedaddy sharing stroke "
    "subscribe subscription tags taxonomy widgettitle",
    -11:
    "<a <figcaption <search affiliate aligncenter auth authors bar branding btn burger button call "
    "captcha cart children close comments condition contributor credit cta date dateline disclaimer "
    "done facebook fail feedback floating foot footer gfield gform hierarchy honeypot icons "
    "individual input link megamenu menu modal mono nav navbar navigation newsletter nocontent notes "
    "notification oc pagination posts previous prop=headline prop=interactionstatistic published "
    "recent relatedposts robots role=dialog role=menu scrollbar sd search signup sr sub sublabel "
    "switcher toggle traditional transform updated utility validation views visibility visually",
    -10:
    "<fieldset <figure <h1 <h6 <legend action actions arrow aside asset avatar banner breadcrumb "
    "breadcrumbs bubble bylines byuser caption comment contains count current dek donate drawer "
    "dropdown embedded empty excerpt flyout follow forms gravity head header help icon info initial "
    "instagram jetpack labels like likes linkedin linklist links localization mobile notice overlay "
    "pop print privacy prop=author qm quantity query reader recommended required searches shape "
    "shortcode skip sq su success teaser textarea textfield timestamp title topics translate trial "
    "upper uppercase url vcard wb widget xr yes",
    -9:
    "<cart-drawer absolute account alert alignwide articles attachment between bl blur bottom "
    "browser bypostauthor categories clamp closed commenting controls cookies counter cy dates "
    "datetime demo depth desk disclosure discount divider dj dl dot duration dyn end error ev events "
    "experiencefragment figure flair flat fu fullwidth ginput hamburger headline hover ij inline jk "
    "job jp justification latest line load loading loop mfp mg micro more ms nh offcanvas optin ov "
    "phone plain pointer popover profile prop=jobtitle read record reddit register reply role=alert "
    "role=listbox role=menuitem role=option rounded rq ru see selected selector sep separator sign "
    "similar slogan slug socials sticky submenu submit suggestions swiper tablet tel terms tertiary "
    "time titlebar tooltip topbar trending unit unloaded uq validate weather window zh",
    -8:
    "<h5 <label above address admin afb after ah align alignnone archive archives back badge "
    "baseline before below bj blogs box brand breaker btns bw cancel checkbox classic clean click "
    "cloud complex desktop dh direction dom down ek ellipsis entries ep explore extended extra "
    "extras filter fn focus framework from fullscreen fv gdpr gecko general get gravatars group "
    "hidden hide ho holder horizontal image img indicator init inset item jf jn join jump kadence "
    "keys label lazyload lc legal li lines lv mc media member middle mini minicart ml mm modified "
    "msg my name names nc nm none notices notify nowrap only opacity opposite options orange other "
    "out outline owl owner pa pager password pk place placeholder popular position pr promo prompt "
    "prop=itemlistelement prop=name ps pu pv qo qq qu qz rating reading recommendations rel remove "
    "replies res research resources result right ring role=listitem role=menubar role=none "
    "role=status scale scroller sdk searchbar secondary semibold setting side size sk skin sky "
    "sponsor started subscriber sy tagline term tg threads ticker tight toc toolbar total tracking "
    "try tt twitter ua underline unstyled vd vf visible vj warning wf whatsapp xsmall xt yl youtube "
    "zd zg zx",
    -7:
    "<center <h4 <span about add ag ajax al all alt am attribution ay az badges bfc bh black blue "
    "blurb bn bold border bordered bot bt bv card carousel cats center cg ch channel choice compact "
    "confirm confirmation corner credits cursor custom customer da dark deals details dialog disable "
    "display div divide dr du dynamic eab ease eb eq es even exit expanded fade fbc fde fe field "
    "fill fit fj flex fm gallery gb gc gf gradient gray grey guest half hm hu hub hy ib iconic "
    "ignore images important inactive inherit ip items jb je jq justified justify jv jz km kw kx "
    "landscape language languages last lazy ld le left legacy list live ll loader lq ls lw ly lz "
    "mail marketing markup me message minor mn mob most motion mr muted necessary next nl odd offer "
    "on open original ou outside ow pairs panel partners pc personal ph picker pl po policy pos pp "
    "pq pre pub qd qg qv radio rail rc reactions red reduce refresh rgba ro role=button "
    "role=document role=group role=heading role=list role=presentation role=region rv rz sale self "
    "series service shadow show sidebar slate slide small snap sort staff stars start state static "
    "store stretch studio subnav support sx te team tf this thumb thumbs tile titles tk top txt uc "
    "ud uk username valign vx vy wc weight white whitespace wishlist wq wraper wv yn yt yy za zero "
    "zl zn zw",
    -6:
    "<button <dl <dt <summary ac accent active ad additional ads ae ai alignfull as at auto aw ba "
    "bbf bc bd bdc be bf bg big bk bq br branch brands bullets by ca caps cat cb ccc cfc chat chrome "
    "clickable co collapsed collapsible color community contents context control country create "
    "crumbs cv cx data dc dcf decoration desc description df disabled dm download drop dz ea ed ee "
    "efc el element er ew ex expand expandable external eyebrow ez fallback fc feed ff fg fh fi "
    "fieldset fixed fl flag float fo focusable font fs fw fx gh gn grow gw gx hb hdr heading hero "
    "highlighted hj hk hours html huge hv ig industry information inside install io jc jg jl jy "
    "keyword kf kg kh ko kq kr ku kz large law learn learning library light listing lj lm local logo "
    "lp lu marquee mb medium mega mh mid modern mp mt multi mw nb network ng nk noprint normal note "
    "now nu number nv nw oa oe offers og oj om one option oq os our oy oz padded pages panels parent "
    "part partner pe pf pi pills pink plus pn podcast portrait preview products programs project py "
    "qk qn qp raw ready reg registration regular rem reset resource reveal review reviews rh ri rn "
    "role role=radiogroup rows rp rr rss rw school scope score screen scroll scrollable sec sections "
    "semi serif services settings shared shop shrink sides signature simple sl sm solid source space "
    "special spinner split sponsored stats std stretched strip struct structural style subtext "
    "subtitle subtotal sw swatch switch ta tab tc test testimonial third thread three tiny tl tn "
    "totals track transition trust tv ub ue ug ui up us user ut ux va vertical vi videos visitor "
    "visual vote vv watch web widgets wl wo word wr wt xb xh xj xn xs yellow yg yj yw zb zk zoom zq "
    "zs zv",
    -5:
    "<dd <details <h3 <li <ul aa access activity addon addons af aj analysis animated ao ap ar "
    "arrows au average baf balance base basis bcf bde bi block book borders bp break bs buy bx bz "
    "canvas cards cd ce centered change check citation ck cli cm code collection colors cols company "
    "condensed connect core cp cq crumb cw day db de deck design dff di directory discussion dots dq "
    "ds dv ec ecf edge eee effect eh ej elements en entity eo equal event experience ey fa false fee "
    "file first flow footnote forums fq free further fz gap gear gg global google green grid gt gu "
    "guides gz ha have headlines hf history hn home hot hp hq hr ia ie if im in index initialized "
    "inner inputs ir is italic ja ji jo kb ke kicker ks kt ky la landing lang lead letter level lf "
    "lightbox ln lo loaded locked looking low lower lt magazine margin mark members module mu mz "
    "neutral new nf not nr nt num ny off offset oo opt or order ot outer ox pad parts pattern pd "
    "peek percent photo pick picks play podcasts poll portal prices promotion prop=image pt qa qc qj "
    "ql qr qt questions radix ratings rd re recirc ref reference relative relaxed remote repeat "
    "report results reverse rj rk rs rt sa sans save sb select send sg shipping shopping shown sj "
    "slider slot smart sn snippet stacked stock stories subhead submission super surface survey sv "
    "swatches tabs tax tb tdi teal technology testimonials text tm to tool tools topic trigger "
    "twelve uid ul um un under universal update ur usa uu variant vert vh video vm vt vu vw website "
    "welcome wh wide wm xc xd xx xz yo you ys yu zc zi zr zy",
    -4:
    "<h2 <section aab ab acc afe aff agents ak alignment amazon animation api area around ax "
    "background bad basic bbb bleed blocks bm both bu bullet callout case cbe cc chart ci cj cl "
    "clear collapse commentlist compare comparison component components con concealed cont course cr "
    "ct cu currency dd delivery descr dfe dt dw dx dy ead editor ef embed enterprise equipment eu "
    "expert fab faf family fancy fb fbe fd featured ffd fff filters fix fk flexible food for four fp "
    "frame ft full gd ge gj gk go gp gq groups gy hc helper hg hh hi high hl id identity il iq it iu "
    "iv iw ix jd jh jm jr jx kd kn lb less lg lh linear lists lk location log logged lr ma mask md "
    "min mk model mx narrow nd ne nested news ni nine nitro nj nx of oh op origin over overflow pane "
    "partial payment pb pg pill platform player pm power preload premium price pricing primary pull "
    "purchase push pw px qb qe qf qh qi quick qw ra radius range ratio rg rl role=link role=tablist "
    "role=tabpanel role=tooltip scheme se section selection sf si slick snug soft sp splide square "
    "st star stat string study subheader subheading subtle summary sz tabbed table tdc tech thin "
    "tiles tp tq tr transparent tw ty tz undefined unified university uo values var vb via view "
    "viewed vl vo vp vq wa well where wider width with without wk work wrap ws wu wx wy wz xa xe xi "
    "xl xq xu xv xxl year yi yoast yr yz ze zo zone zt",
    -3:
    "<ol apps aspect bbc blog breaking cae calc career catalog cf circle cn column containers copy "
    "cover cs def des dn edit eg enabled et facet ffe fluid fr fy ga gs he health height ht hx "
    "international inverted isolate iy jsx jt jw ka kp layer logos max mf mj month na ns onecol "
    "online overview padding picture pinned placement plan points prefix prop=description purple qx "
    "qy rb react request rm role=tab row second segment short slideshow so solutions sports ss "
    "strong suffix th tj training trends truncate tu tx uf uj value vc vertically viewport vr we "
    "wrapper xf yd",
    3:
    "conclusion prop=articlebody rte",
    4:
    "ingredients",
    6:
    "larger",
}
NAME_SCORES = {word: score for score, words in _WORDS.items() for word in words.split()}


def log_odds(row: list[int]) -> int:
    """Return the log-odds that a block is content, in hundredths, by its features (blocks.py)."""
    (
        length, links, ends, tag, hidden, repeats, in_title, in_summary, level, look_share,
        look_prose, look_count, look_length, look_parents, look_links, box_share, box_prose,
        box_total, best_box, near_links, near_length, around_links, far_links, far_prose,
        far_count, far_density, from_best, depth_best, prose_before, before, after, from_title,
        page_prose_share, page_prose, page_best, page_links, page_article, list_share, list_count,
        list_length, twins_share, twins_count, twins_length, twins_links, section, from_heading,
        heading, window_links, last_length, last_links, last_same, next_length, next_links,
        next_same, in_main, in_article, in_aside, in_form, in_header, in_figure, in_table, name,
        parent_name, worst_name, best_name, worst_distance, good_names
    ) = row
    total = 0
    total += (
        ((((25 if name < -5 else 39) if window_links < 1 else (((17 if from_title < 5 else 26) if
        prose_before < 26 else 14) if in_summary < 12 else 45)) if look_share < 7 else (46 if
        around_links < 7 else 31)) if box_share < 6 else (((59 if look_parents < 32 else (53 if
        links < 4 else 29)) if links < 12 else 40) if from_best < 1 else ((43 if page_best < 14
        else 21) if look_share < 13 else 54)))
    )
    total += (
        ((((-18 if name < -9 else -3) if window_links < 1 else (-22 if in_summary < 17 else 5)) if
        list_share < 5 else (((-8 if links < 9 else -18) if page_links < 25 else 11) if depth_best
        < 1 else 1)) if box_share < 4 else (((16 if links < 27 else -3) if look_parents < 32 else
        (-8 if section < 25 else 10)) if from_best < 1 else ((0 if far_links < 4 else -15) if
        look_prose < 20 else 12)))
    )
    total += (
        ((((-17 if look_count < 6 else (-14 if after < 41 else 0)) if around_links < 1 else ((-15
        if page_article < 1 else -21) if in_summary < 22 else 10)) if look_share < 4 else ((5 if
        in_aside < 1 else -22) if around_links < 20 else (-19 if list_share < 12 else -3))) if
        box_prose < 32 else (((7 if look_share < 2 else 15) if links < 27 else -7) if from_best < 1
        else (-9 if look_share < 13 else 10)))
    )
    total += (
        (((((-3 if parent_name < -8 else 8) if tag < 8 else -10) if near_links < 5 else (-18 if
        twins_length < 19 else -9)) if prose_before < 25 else (-19 if list_length < 28 else (2 if
        from_best < 1 else -14))) if box_share < 7 else ((((14 if in_aside < 1 else -16) if repeats
        < 2 else 3) if prose_before < 30 else 0) if look_parents < 32 else ((9 if repeats < 2 else
        -7) if look_links < 2 else -6)))
    )
    total += (
        (((-18 if look_share < 15 else 4) if worst_name < -11 else ((((-1 if far_links < 2 else
        -10) if box_prose < 26 else 2) if before < 27 else -16) if look_share < 4 else (8 if
        twins_links < 5 else -1))) if box_prose < 34 else (((4 if look_share < 2 else 13) if hidden
        < 1 else (-20 if in_summary < 3 else 10)) if from_best < 1 else ((1 if page_best < 14 else
        -16) if look_share < 13 else 9)))
    )
    total += (
        ((-16 if worst_name < -11 else (((-3 if worst_name < -9 else 7) if links < 7 else (-14 if
        list_count < 10 else -3)) if prose_before < 28 else (-14 if list_count < 14 else 2))) if
        look_prose < 3 else ((-18 if box_prose < 37 else 7) if worst_name < -12 else ((((10 if
        repeats < 2 else -4) if best_box < 16 else (7 if prose_before < 20 else -10)) if box_total
        < 16 else 14) if links < 24 else -17)))
    )
    total += (
        ((-15 if worst_name < -11 else ((((0 if look_count < 8 else 10) if before < 28 else -9) if
        tag < 8 else -9) if near_links < 6 else -12)) if look_share < 4 else (((((-7 if far_prose <
        30 else 10) if name < -5 else 13) if hidden < 1 else -9) if from_best < 3 else (-6 if
        list_share < 13 else 6)) if links < 9 else ((-14 if twins_share < 17 else 4) if in_main < 1
        else 1)))
    )
    total += (
        (((-5 if page_best < 6 else (-13 if in_summary < 13 else 6)) if look_share < 1 else ((4 if
        from_best < 1 else -3) if around_links < 14 else (-13 if page_links < 20 else (-11 if
        list_length < 23 else 5)))) if box_prose < 30 else ((11 if window_links < 4 else 5) if
        from_best < 1 else (((9 if repeats < 2 else -12) if window_links < 3 else (-15 if
        worst_distance < 6 else 2)) if page_best < 19 else -14)))
    )
    total += (
        (((((-8 if name < -6 else ((4 if far_links < 4 else -9) if in_summary < 12 else 14)) if
        links < 12 else -12) if prose_before < 22 else -13) if list_share < 8 else ((-8 if
        box_share < 4 else 5) if in_main < 1 else (7 if tag < 8 else -2))) if box_share < 10 else
        (((4 if name < -7 else 11) if links < 12 else -2) if repeats < 2 else (-8 if
        page_prose_share < 31 else 11)))
    )
    total += (
        ((-12 if worst_name < -11 else ((-5 if look_share < 1 else (5 if near_links < 17 else -3))
        if before < 23 else (-12 if look_count < 12 else (7 if from_best < 1 else -6)))) if
        box_share < 10 else ((-18 if look_count < 16 else 10) if worst_name < -12 else (((7 if
        look_prose < 13 else (11 if window_links < 14 else -14)) if links < 13 else -3) if repeats
        < 2 else (-6 if look_share < 31 else 13))))
    )
    total += (
        (((-13 if twins_share < 15 else -3) if worst_name < -11 else (((5 if prose_before < 30 else
        -7) if tag < 8 else -3) if best_box < 20 else (18 if page_prose_share < 1 else ((-13 if
        in_summary < 17 else 9) if depth_best < 1 else (-8 if name < -8 else 7))))) if box_prose <
        34 else ((0 if from_title < 1 else 10) if prose_before < 23 else ((-11 if box_total < 24
        else 2) if look_count < 14 else 6)))
    )
    total += (
        (((((1 if near_links < 1 else -9) if best_box < 9 else -11) if in_summary < 27 else 10) if
        look_count < 11 else (1 if near_links < 18 else (4 if page_prose < 37 else -9))) if
        box_share < 4 else ((((-9 if in_main < 1 else 1) if in_summary < 12 else 10) if box_total <
        13 else 6) if list_share < 13 else ((10 if links < 6 else 0) if hidden < 1 else (-25 if
        from_title < 7 else 6))))
    )
    total += (
        ((((((-8 if parent_name < 0 else 3) if twins_length < 17 else (3 if repeats < 2 else -4))
        if page_article < 1 else -9) if in_summary < 5 else (6 if box_prose < 51 else -18)) if
        best_box < 20 else ((-12 if list_count < 14 else -1) if in_summary < 14 else 8)) if
        depth_best < 1 else ((-6 if look_length < 30 else 7) if look_count < 10 else ((11 if
        far_count < 34 else 0) if window_links < 4 else 4)))
    )
    total += (
        ((((-9 if twins_length < 16 else (-4 if parent_name < -6 else (6 if near_links < 32 else
        -10))) if in_title < 5 else 4) if best_box < 18 else (11 if page_prose < 30 else (-10 if
        in_table < 1 else 4))) if box_total < 2 else ((((7 if around_links < 4 else (-1 if
        page_prose_share < 25 else -31)) if box_total < 13 else 10) if hidden < 1 else -11) if
        prose_before < 23 else (-7 if list_count < 9 else 3)))
    )
    total += (
        ((((-8 if twins_length < 17 else (2 if prose_before < 15 else -4)) if in_title < 5 else (6
        if best_box < 10 else -2)) if page_best < 21 else (7 if page_prose_share < 4 else (-12 if
        in_title < 8 else (4 if from_best < 0 else -10)))) if depth_best < 1 else (((9 if links <
        12 else -3) if prose_before < 30 else -4) if look_parents < 32 else (-5 if name < -4 else
        (-16 if section < 0 else 6))))
    )
    total += (
        (((-11 if section < 0 else (-3 if name < -9 else ((-5 if look_count < 6 else (-2 if
        far_prose < 19 else (8 if links < 2 else -1))) if in_summary < 12 else 11))) if before < 24
        else (-10 if look_count < 12 else (1 if last_links < 19 else -8))) if look_share < 13 else
        (((1 if parent_name < -25 else 10) if links < 9 else (7 if look_prose < 20 else -10)) if
        hidden < 1 else -10))
    )
    total += (
        (((-8 if in_summary < 3 else 0) if look_share < 1 else (((4 if tag < 8 else ((11 if tag <
        13 else -20) if in_summary < 0 else -4)) if near_links < 18 else (1 if page_prose_share <
        11 else -10)) if in_aside < 1 else -14)) if box_prose < 36 else (8 if prose_before < 21
        else ((-20 if tag < 1 else 4) if length < 25 else ((6 if look_length < 31 else -10) if
        look_share < 18 else 8))))
    )
    total += (
        ((((3 if page_links < 2 else ((-11 if section < 23 else -4) if level < 2 else 4)) if
        prose_before < 24 else (2 if page_best < 6 else -10)) if look_count < 13 else (((2 if
        near_links < 22 else (-8 if page_links < 20 else 5)) if look_share < 17 else 10) if
        in_aside < 1 else -13)) if box_share < 10 else ((4 if look_share < 15 else (10 if hidden <
        1 else -9)) if links < 4 else -2))
    )
    total += (
        ((((((13 if in_title < 0 else (-14 if before < 5 else -1)) if in_title < 24 else 9) if
        from_title < 0 else (1 if box_prose < 48 else -25)) if before < 23 else -10) if list_share
        < 9 else ((-2 if in_main < 1 else 4) if in_aside < 1 else -13)) if depth_best < 1 else
        (((-5 if list_share < 0 else (5 if repeats < 2 else -4)) if look_length < 32 else -16) if
        length < 29 else 8))
    )
    total += (
        (((-7 if from_title < 1 else ((-1 if worst_distance < 6 else 4) if in_summary < 21 else
        12)) if from_best < 1 else ((5 if from_heading < 2 else -4) if page_best < 11 else (12 if
        page_prose_share < 1 else -9))) if look_share < 12 else ((((7 if from_title < 33 else -12)
        if parent_name < -23 else (9 if last_length < 40 else -14)) if links < 6 else -2) if hidden
        < 1 else (-17 if from_heading < 3 else 4)))
    )
    total += (
        (((-10 if worst_name < -12 else (((-2 if level < 2 else 11) if best_box < 6 else ((14 if
        page_prose < 29 else -9) if in_summary < 13 else 6)) if look_count < 10 else (((3 if
        from_best < 17 else -4) if twins_links < 21 else -6) if page_links < 25 else 12))) if
        box_total < 24 else (0 if in_summary < 2 else 9)) if worst_name < -9 else ((7 if far_count
        < 37 else -12) if look_links < 7 else -3))
    )
    total += (
        ((-9 if list_share < 17 else (-8 if far_prose < 29 else 5)) if worst_name < -11 else (((((2
        if box_prose < 43 else -14) if after < 38 else (4 if worst_name < -9 else 8)) if links < 9
        else (2 if far_links < 4 else -16)) if around_links < 4 else ((-6 if in_summary < 15 else
        12) if in_main < 1 else 4)) if tag < 8 else ((-17 if after < 23 else 9) if in_summary < 0
        else -3)))
    )
    total += (
        ((-6 if list_length < 16 else (((4 if look_length < 29 else (-19 if ends < 1 else 0)) if
        repeats < 2 else -4) if next_links < 12 else (2 if page_prose_share < 8 else -7))) if
        length < 28 else (((0 if section < 53 else -30) if parent_name < -22 else ((-6 if far_prose
        < 10 else (8 if tag < 10 else (-20 if after < 38 else 3))) if repeats < 3 else -14)) if
        from_best < 2 else -2))
    )
    total += (
        (((-1 if section < 45 else (-11 if list_share < 20 else 2)) if name < -5 else ((5 if before
        < 28 else -2) if hidden < 1 else -6)) if window_links < 4 else ((((-10 if after < 63 else
        14) if list_count < 10 else ((2 if page_prose < 43 else -9) if in_article < 1 else 6)) if
        in_summary < 15 else 7) if in_main < 1 else (8 if page_prose < 38 else (1 if before < 22
        else -6))))
    )
    total += (
        (-9 if worst_name < -12 else ((((-7 if worst_name < -10 else (12 if length < 12 else -2))
        if list_count < 9 else (((2 if section < 49 else (-1 if page_prose < 52 else -25)) if
        parent_name < -13 else 6) if next_links < 32 else (2 if page_article < 1 else -8))) if
        in_title < 4 else (((5 if best_box < 10 else 0) if in_summary < 12 else 9) if look_share <
        19 else 8)) if repeats < 2 else -5))
    )
    total += (
        (((-8 if in_article < 1 else -3) if look_share < 15 else 5) if worst_name < -11 else
        (((((11 if list_share < 27 else -2) if in_summary < 0 else (-6 if section < 15 else (3 if
        section < 47 else -4))) if look_share < 18 else (9 if section < 54 else (5 if look_parents
        < 6 else -17))) if hidden < 1 else ((-12 if heading < 2 else 0) if look_prose < 31 else
        -22)) if before < 28 else -5))
    )
    total += (
        (((6 if in_summary < 0 else (-7 if list_share < 19 else 4)) if from_title < 1 else (((3 if
        in_summary < 15 else 11) if repeats < 2 else -2) if look_share < 17 else 9)) if
        prose_before < 19 else ((-1 if around_links < 1 else -8) if list_share < 4 else (((3 if
        last_length < 33 else ((2 if look_prose < 23 else -26) if length < 28 else 0)) if repeats <
        2 else -6) if heading < 4 else -7)))
    )
    total += (
        ((((((11 if far_links < 2 else -10) if heading < 2 else 22) if page_prose < 29 else (-8 if
        from_title < 0 else -1)) if in_summary < 13 else 8) if before < 27 else -9) if list_share <
        2 else (((1 if around_links < 4 else ((-5 if twins_share < 14 else 3) if box_total < 6 else
        -16)) if in_main < 1 else (12 if in_summary < 0 else 1)) if box_total < 24 else (6 if
        page_prose < 61 else -18)))
    )
    total += (
        ((-4 if in_summary < 14 else 7) if look_count < 10 else (((-2 if page_links < 25 else 10)
        if section < 51 else -14) if far_prose < 18 else ((6 if section < 44 else (((7 if
        page_links < 2 else ((-1 if from_title < 42 else (-6 if look_share < 12 else -39)) if
        around_links < 1 else 2)) if list_share < 31 else -14) if worst_distance < 7 else (-4 if
        list_share < 11 else 9))) if window_links < 15 else -5)))
    )
    total += (
        ((-5 if in_summary < 13 else 6) if look_count < 6 else (((((4 if from_heading < 2 else -3)
        if parent_name < -5 else 4) if best_box < 15 else (14 if page_prose_share < 1 else (0 if
        window_links < 3 else ((4 if window_links < 18 else -7) if far_density < 13 else -9)))) if
        in_title < 8 else 3) if box_total < 29 else (((2 if parent_name < 0 else -28) if
        near_length < 21 else 8) if best_name < 4 else -19)))
    )
    total += (
        ((((-11 if in_main < 1 else 4) if section < 0 else ((3 if prose_before < 19 else (-1 if
        look_share < 17 else (-38 if page_prose < 47 else 4))) if tag < 8 else (-3 if around_links
        < 31 else 8))) if look_share < 18 else (8 if section < 54 else (-22 if far_prose < 32 else
        3))) if before < 23 else ((-6 if list_length < 23 else 1) if far_links < 5 else (-4 if
        page_prose < 48 else -12)))
    )
    total += (
        ((((((5 if tag < 7 else -5) if page_best < 7 else (-8 if tag < 3 else (-5 if look_share < 3
        else 4))) if in_article < 1 else 2) if in_main < 1 else (8 if in_summary < 0 else (2 if tag
        < 8 else -3))) if in_summary < 5 else ((-15 if next_length < 1 else (7 if from_title < 27
        else (4 if section < 46 else -6))) if repeats < 2 else -6)) if in_aside < 1 else -12)
    )
    total += (
        (-8 if worst_name < -12 else ((-5 if in_summary < 4 else (-18 if far_count < 12 else 3)) if
        look_count < 6 else ((((10 if twins_length < 34 else -1) if hidden < 1 else -7) if
        in_summary < 0 else (((-10 if section < 0 else ((4 if in_form < 1 else -9) if around_links
        < 7 else -2)) if twins_length < 32 else -5) if in_title < 4 else (5 if before < 22 else
        0))) if look_length < 39 else -17)))
    )
    total += (
        ((((-5 if before < 2 else ((3 if in_aside < 1 else -11) if look_length < 30 else (5 if
        before < 10 else ((-5 if twins_share < 10 else (-25 if twins_links < 1 else -7)) if
        look_share < 18 else (7 if look_count < 23 else (3 if section < 47 else -23)))))) if
        in_title < 5 else 4) if repeats < 2 else -3) if before < 26 else ((-5 if in_main < 1 else
        5) if best_box < 10 else -6))
    )
    total += (
        (((-15 if after < 23 else (((6 if hidden < 1 else -6) if page_article < 1 else (3 if
        prose_before < 14 else -7)) if from_heading < 4 else -4)) if best_box < 21 else (-8 if
        length < 28 else ((-16 if window_links < 1 else (5 if window_links < 6 else -11)) if
        next_length < 22 else 6))) if look_count < 10 else ((0 if best_name < 1 else 9) if
        box_total < 29 else (5 if good_names < 12 else -21)))
    )
    total += (
        ((((-5 if in_summary < 3 else 1) if look_count < 6 else (((8 if in_summary < 0 else ((((4
        if near_links < 7 else -11) if look_length < 40 else -23) if around_links < 3 else (2 if
        page_prose_share < 21 else -8)) if section < 50 else (-11 if box_share < 25 else 6))) if
        hidden < 1 else -8) if list_share < 21 else 4)) if repeats < 2 else (-5 if look_count < 27
        else 6)) if in_aside < 1 else -9)
    )
    total += (
        (((-9 if worst_name < -12 else (6 if parent_name < -43 else -3)) if look_count < 14 else
        (((-1 if section < 49 else -12) if page_links < 20 else 10) if parent_name < -11 else ((6
        if near_length < 36 else -16) if twins_links < 20 else -3))) if worst_name < -9 else (4 if
        worst_name < -6 else (((-18 if look_parents < 2 else (-3 if length < 32 else 10)) if
        list_share < 19 else 7) if section < 48 else -12)))
    )
    total += (
        (((1 if best_box < 6 else -5) if look_count < 10 else (((-5 if worst_name < -12 else ((9 if
        page_links < 9 else 2) if page_prose < 48 else ((4 if section < 55 else -10) if next_links
        < 24 else -7))) if near_length < 35 else (-19 if page_prose < 53 else 4)) if repeats < 2
        else -4)) if worst_name < -9 else (4 if links < 1 else (-1 if last_length < 31 else (-17 if
        page_prose < 51 else 1))))
    )
    total += (
        ((-5 if heading < 1 else (((4 if hidden < 1 else -6) if tag < 8 else (-2 if around_links <
        31 else 10)) if prose_before < 14 else ((5 if page_prose_share < 10 else (1 if around_links
        < 10 else (3 if parent_name < -24 else -9))) if look_length < 30 else (-13 if length < 28
        else ((-15 if page_prose_share < 23 else -2) if name < -4 else (1 if look_count < 23 else
        -10)))))) if in_aside < 1 else -9)
    )
    total += (
        (((((11 if near_length < 10 else (-10 if in_main < 1 else (7 if near_length < 27 else
        -11))) if prose_before < 5 else 4) if from_title < 1 else ((2 if prose_before < 24 else -3)
        if worst_distance < 6 else (((8 if near_length < 36 else (8 if from_title < 15 else -14))
        if page_links < 9 else 0) if next_links < 13 else 0))) if repeats < 2 else -3) if
        prose_before < 30 else (5 if page_prose_share < 10 else -6))
    )
    total += (
        ((((-10 if best_box < 31 else 1) if in_main < 1 else -2) if in_article < 1 else 1) if
        worst_name < -11 else ((0 if twins_length < 35 else -10) if worst_distance < 2 else ((((6
        if after < 44 else (((1 if far_count < 37 else -17) if worst_distance < 7 else 5) if
        from_best < 1 else (2 if best_box < 10 else -6))) if last_length < 40 else -17) if hidden <
        1 else -4) if before < 26 else -2)))
    )
    total += (
        ((-4 if page_best < 4 else 6) if in_summary < 0 else (((((-9 if next_length < 14 else -2)
        if worst_name < -9 else (2 if page_prose < 62 else -21)) if level < 2 else 5) if
        parent_name < -10 else ((3 if far_count < 37 else -12) if window_links < 13 else -10)) if
        near_links < 2 else ((-2 if look_length < 21 else 7) if far_density < 8 else (2 if best_box
        < 6 else (-7 if in_summary < 5 else 0)))))
    )
    total += (
        (-5 if worst_name < -12 else (((((5 if list_share < 27 else -8) if list_count < 10 else 11)
        if last_length < 40 else -20) if in_summary < 0 else ((((-4 if look_parents < 15 else 10)
        if after < 43 else (0 if box_prose < 47 else 6)) if far_density < 28 else ((-3 if
        worst_name < -6 else -31) if look_length < 32 else 2)) if before < 21 else (2 if best_box <
        10 else -3))) if hidden < 1 else -4))
    )
    total += (
        ((((((8 if length < 13 else -11) if after < 33 else 4) if section < 44 else -11) if
        page_article < 1 else -6) if look_count < 6 else ((7 if in_summary < 0 else (-8 if section
        < 0 else (((5 if from_best < 5 else 0) if around_links < 3 else ((8 if name < -24 else 0)
        if page_article < 1 else -4)) if section < 47 else -3))) if twins_length < 32 else -2)) if
        in_summary < 22 else 7)
    )
    total += (
        (((((-2 if page_article < 1 else (10 if page_prose < 29 else -7)) if in_title < 3 else ((-4
        if look_count < 15 else 2) if ends < 1 else 2)) if in_table < 1 else 6) if level < 2 else
        3) if worst_name < -9 else (((3 if look_count < 20 else 9) if page_prose < 59 else -7) if
        far_links < 3 else ((4 if links < 1 else (-12 if page_best < 12 else 0)) if before < 19
        else -4)))
    )
    total += (
        (((((4 if in_summary < 0 else (((-1 if links < 1 else -6) if in_main < 1 else (2 if
        twins_share < 10 else (5 if from_heading < 1 else -5))) if in_summary < 4 else (-10 if
        far_count < 13 else (4 if prose_before < 14 else 0)))) if last_length < 40 else (3 if
        from_heading < 6 else -26)) if section < 57 else (-16 if twins_count < 21 else 6)) if tag <
        13 else -7) if in_aside < 1 else -8)
    )
    total += (
        ((-1 if look_count < 10 else (((0 if twins_count < 14 else 11) if worst_distance < 4 else
        (-3 if worst_name < -7 else -17)) if far_prose < 11 else (((5 if box_total < 5 else (-10 if
        page_best < 18 else (4 if section < 52 else -18))) if list_count < 17 else (2 if
        worst_distance < 5 else (-17 if page_best < 31 else (9 if look_count < 28 else -15)))) if
        worst_distance < 7 else 5))) if heading < 4 else -3)
    )
    total += (
        ((((-8 if look_parents < 16 else 7) if page_prose_share < 7 else ((-6 if page_prose_share <
        20 else 2) if from_best < 1 else -8)) if look_prose < 28 else 8) if worst_name < -11 else
        ((2 if page_prose_share < 27 else (-6 if in_article < 1 else 2)) if section < 45 else ((1
        if best_box < 10 else (-10 if worst_name < -7 else 2)) if list_count < 10 else (1 if
        worst_name < -6 else (5 if prose_before < 10 else -15)))))
    )
    total += (
        ((-4 if after < 33 else ((0 if in_summary < 3 else 3) if section < 44 else ((((1 if section
        < 48 else (-6 if look_length < 32 else -19)) if look_prose < 21 else 6) if page_best < 31
        else (-23 if page_prose < 47 else -4)) if parent_name < -6 else ((-10 if look_parents < 4
        else (-1 if list_count < 14 else 8)) if look_prose < 24 else 7)))) if heading < 4 else (-4
        if window_links < 32 else 11))
    )
    total += (
        (((((2 if next_length < 26 else 7) if list_count < 17 else ((-14 if page_best < 26 else 7)
        if far_count < 29 else 3)) if repeats < 2 else -3) if best_box < 15 else ((-3 if name < -10
        else 2) if prose_before < 20 else ((-3 if twins_share < 17 else ((-36 if window_links < 3
        else -4) if twins_share < 21 else -6)) if look_count < 16 else (-7 if best_box < 22 else
        3)))) if hidden < 1 else -5)
    )
    total += (
        ((3 if page_prose_share < 8 else ((((-1 if best_box < 21 else -6) if box_prose < 32 else
        ((-7 if twins_count < 17 else -19) if page_best < 31 else 4)) if box_total < 27 else 4) if
        worst_distance < 7 else (2 if far_links < 15 else (-9 if list_count < 20 else 15)))) if
        worst_name < -9 else ((4 if worst_name < -7 else 0) if links < 27 else ((8 if next_length <
        12 else -9) if page_prose < 52 else 6)))
    )
    total += (
        ((5 if from_best < -9 else -6) if worst_name < -12 else ((((-4 if after < 32 else ((5 if
        hidden < 1 else -6) if page_prose < 41 else ((4 if section < 50 else -7) if best_box < 6
        else ((-6 if after < 42 else ((1 if from_title < -12 else -9) if from_title < 1 else 2)) if
        from_best < 1 else -4)))) if section < 57 else -9) if page_prose < 61 else -10) if
        last_length < 39 else -10))
    )
    total += (
        (((11 if far_density < 20 else -1) if parent_name < -45 else (((6 if from_heading < 5 else
        0) if page_best < 10 else (((-2 if worst_distance < 5 else 1) if far_count < 28 else (1 if
        parent_name < -3 else 9)) if far_count < 35 else (-15 if worst_distance < 8 else 7))) if
        window_links < 4 else (-4 if list_count < 10 else (-2 if tag < 2 else 4)))) if repeats < 2
        else (-1 if near_length < 24 else -7))
    )
    total += (
        ((((-7 if far_prose < 12 else -1) if worst_name < -11 else (1 if twins_share < 30 else -7))
        if look_length < 30 else (-19 if length < 24 else (3 if from_title < 18 else (-14 if
        parent_name < -25 else ((-2 if twins_share < 10 else -13) if look_share < 17 else 2))))) if
        in_title < 4 else ((1 if look_share < 19 else ((-5 if length < 27 else 7) if good_names <
        12 else -17)) if in_title < 30 else -6))
    )
    total += (
        (((((5 if last_length < 28 else -7) if list_share < 27 else -9) if ends < 1 else 7) if
        list_count < 11 else 8) if in_summary < 0 else (((((6 if twins_count < 13 else -3) if
        page_best < 6 else (-1 if twins_length < 35 else -7)) if name < -5 else ((3 if twins_count
        < 13 else -3) if list_share < 21 else 5)) if around_links < 8 else -3) if links < 1 else (1
        if page_prose_share < 11 else -4)))
    )
    total += (
        ((((((-1 if look_length < 31 else -7) if box_total < 30 else 6) if far_links < 11 else (-3
        if list_length < 31 else -12)) if far_count < 36 else 8) if in_main < 1 else 1) if in_title
        < 5 else ((1 if name < -3 else 8) if prose_before < 2 else ((0 if parent_name < 0 else (-12
        if near_length < 30 else ((-13 if length < 29 else 9) if look_length < 37 else -9))) if
        ends < 1 else 3)))
    )
    total += (
        ((5 if parent_name < -45 else (((2 if next_links < 12 else -2) if section < 46 else ((3 if
        near_links < 2 else (-14 if twins_links < 2 else 4)) if from_title < 27 else ((-1 if
        look_share < 11 else -20) if from_heading < 17 else (-7 if parent_name < -10 else 3)))) if
        last_links < 21 else (-3 if page_links < 20 else (8 if parent_name < -10 else -4)))) if
        repeats < 3 else (-7 if look_count < 18 else 1))
    )
    total += (
        (((-5 if from_heading < 0 else (((0 if page_links < 10 else ((((3 if from_heading < 5 else
        -5) if look_share < 6 else 10) if worst_distance < 7 else -6) if twins_length < 29 else
        -6)) if best_name < 1 else (8 if look_share < 17 else -13)) if around_links < 31 else ((16
        if list_length < 22 else 4) if name < -5 else -3))) if look_prose < 29 else (-19 if
        page_links < 12 else 3)) if look_share < 18 else 3)
    )
    total += (
        ((-4 if worst_distance < 1 else (((1 if length < 23 else 10) if in_summary < 0 else ((((-9
        if prose_before < 12 else 6) if in_main < 1 else 4) if worst_name < -7 else -14) if
        from_title < 0 else ((-1 if look_count < 13 else 2) if in_summary < 6 else 4))) if heading
        < 3 else (((0 if worst_distance < 9 else 6) if from_best < 1 else -2) if section < 48 else
        -7))) if twins_length < 45 else -9)
    )
    total += (
        ((-2 if look_length < 19 else 11) if name < -55 else ((((((2 if repeats < 3 else -5) if
        best_box < 10 else (1 if near_length < 27 else (-5 if length < 33 else (-5 if best_box < 22
        else 6)))) if in_form < 1 else (-10 if twins_share < 5 else 2)) if in_aside < 1 else -7) if
        best_name < 1 else (7 if last_length < 40 else -15)) if list_length < 51 else (-11 if
        twins_links < 17 else 9)))
    )
    total += (
        (-11 if far_count < 8 else ((((3 if far_density < 8 else (4 if from_title < -17 else (-2 if
        window_links < 6 else (-4 if look_prose < 3 else -16)))) if worst_distance < 7 else (((-20
        if look_links < 1 else 3) if look_parents < 4 else 0) if page_prose < 50 else 4)) if hidden
        < 1 else -6) if worst_name < -9 else (-9 if page_best < 2 else (2 if far_count < 37 else (5
        if page_best < 29 else -20)))))
    )
    total += (
        (7 if name < -60 else ((((2 if page_best < 21 else (-4 if list_count < 12 else 3)) if
        next_length < 29 else 6) if from_heading < 2 else (((-1 if look_prose < 5 else -9) if name
        < -7 else ((8 if page_prose < 48 else 1) if near_length < 29 else 0)) if links < 1 else
        ((-2 if links < 6 else -9) if twins_links < 4 else 0))) if repeats < 2 else (-1 if
        near_length < 24 else -6)))
    )
    total += (
        (((((3 if hidden < 1 else -4) if before < 21 else (((4 if repeats < 2 else -4) if
        page_prose < 51 else -6) if page_article < 1 else (7 if page_prose < 37 else -5))) if
        twins_share < 27 else ((-11 if near_length < 29 else 3) if page_prose_share < 16 else 7))
        if far_density < 21 else -2) if next_length < 29 else ((5 if from_title < 36 else (-4 if
        page_article < 1 else 3)) if page_links < 9 else -2))
    )
    total += (
        ((0 if look_length < 28 else -2) if look_share < 19 else ((11 if look_length < 15 else
        (((-14 if near_length < 23 else 5) if near_length < 28 else -19) if look_count < 19 else (4
        if far_links < 5 else -11))) if length < 28 else ((-15 if far_links < 1 else 4) if
        parent_name < -29 else (9 if near_length < 35 else (8 if in_title < 10 else (7 if
        list_share < 23 else (-25 if worst_name < -9 else -2)))))))
    )
    total += (
        ((((8 if look_length < 11 else -7) if best_box < 1 else (10 if page_prose_share < 1 else
        (-1 if list_share < 2 else ((4 if page_links < 9 else (4 if page_prose_share < 11 else -7))
        if twins_share < 10 else (-1 if far_links < 30 else 13))))) if far_density < 28 else (((-5
        if twins_count < 19 else -22) if box_prose < 54 else 7) if look_length < 32 else (3 if
        twins_count < 29 else -17))) if heading < 5 else -4)
    )
    total += (
        (-10 if far_count < 8 else (((-3 if worst_name < -11 else 1) if near_length < 28 else
        ((((-18 if look_parents < 11 else -7) if next_length < 29 else -1) if twins_links < 1 else
        1) if list_share < 27 else 2)) if in_title < 4 else ((((0 if list_length < 33 else ((7 if
        best_name < 4 else -11) if from_title < 33 else 1)) if in_title < 30 else -5) if
        list_length < 45 else -5) if far_count < 37 else -11)))
    )
    total += (
        ((0 if section < 50 else ((-9 if page_best < 6 else ((8 if page_prose < 46 else -4) if
        box_share < 8 else 7)) if box_total < 22 else (-22 if in_article < 1 else 4))) if box_total
        < 29 else (((-8 if page_prose_share < 19 else 7) if in_title < 17 else -14) if
        worst_distance < 2 else ((0 if before < 7 else (10 if page_prose < 62 else -8)) if before <
        26 else (3 if last_links < 2 else -10))))
    )
    total += (
        (((-5 if twins_count < 11 else 5) if look_length < 23 else 5) if in_summary < 0 else ((-7
        if in_title < 12 else 6) if from_heading < 0 else ((8 if parent_name < -40 else (3 if
        best_box < 10 else (2 if from_title < 24 else (-7 if box_total < 28 else 6)))) if
        from_heading < 2 else (((-4 if box_total < 11 else 2) if around_links < 31 else 5) if
        parent_name < -7 else (3 if links < 1 else -4)))))
    )
    total += (
        ((((4 if repeats < 3 else -4) if worst_distance < 4 else (-6 if page_best < 2 else ((1 if
        box_share < 32 else (-16 if in_main < 1 else 2)) if length < 35 else -7))) if best_box < 10
        else ((-4 if in_main < 1 else (8 if from_title < -8 else -1)) if in_article < 1 else 0)) if
        in_summary < 9 else (-3 if length < 29 else (-12 if next_length < 1 else (8 if from_title <
        18 else 0))))
    )
    total += (
        (((((3 if window_links < 21 else -6) if look_length < 28 else (-14 if length < 28 else
        ((-24 if page_prose_share < 13 else (-12 if far_links < 3 else 3)) if list_share < 18 else
        (8 if list_share < 32 else -16)))) if look_parents < 7 else (((6 if parent_name < -39 else
        0) if page_prose_share < 21 else -2) if next_length < 30 else 4)) if box_prose < 50 else
        (-3 if box_total < 26 else 6)) if page_prose < 61 else -7)
    )
    total += (
        ((((((0 if box_total < 27 else 6) if look_share < 27 else 11) if near_length < 29 else (-8
        if after < 38 else ((3 if near_links < 2 else -5) if from_title < 24 else ((-5 if
        next_links < 17 else 6) if near_length < 36 else -17)))) if worst_distance < 8 else (4 if
        heading < 4 else -3)) if page_links < 10 else (-3 if page_links < 19 else (-2 if
        look_length < 21 else 5))) if look_length < 39 else -8)
    )
    total += (
        (-7 if next_length < 1 else ((((((-1 if next_length < 29 else ((1 if section < 45 else -17)
        if from_title < -1 else 3)) if section < 57 else -10) if last_length < 38 else -8) if
        page_links < 14 else ((-1 if far_links < 8 else -20) if window_links < 2 else ((-9 if
        far_count < 27 else 2) if box_total < 7 else 7))) if page_links < 19 else 3) if list_share
        < 29 else (4 if page_links < 8 else -3)))
    )
    total += (
        (((1 if section < 44 else (0 if box_total < 5 else (-17 if length < 33 else (7 if far_count
        < 23 else (3 if before < 15 else (-19 if twins_share < 20 else 3)))))) if ends < 1 else (-3
        if length < 23 else 2)) if far_density < 28 else (-10 if far_prose < 18 else (((-5 if
        look_length < 30 else 7) if twins_share < 5 else -12) if look_count < 11 else (-10 if
        parent_name < -29 else 5))))
    )
    total += (
        ((0 if look_prose < 5 else (((-6 if look_length < 31 else 3) if list_share < 19 else 8) if
        heading < 2 else ((6 if look_length < 28 else (-9 if in_summary < 1 else ((-7 if far_prose
        < 21 else 2) if page_best < 32 else (-15 if from_title < 42 else 3)))) if far_links < 8
        else (-17 if near_links < 1 else -4)))) if look_share < 27 else ((7 if good_names < 12 else
        -12) if in_summary < 10 else -7))
    )
    total += (
        (-9 if after < 23 else (((-5 if far_prose < 10 else (-3 if look_count < 13 else 6)) if
        twins_share < 5 else (((-14 if look_parents < 7 else -2) if section < 49 else 3) if
        box_total < 13 else (((-11 if prose_before < 5 else 5) if twins_length < 31 else -8) if
        after < 45 else ((-24 if worst_name < -8 else 7) if page_prose < 45 else (4 if from_title <
        66 else -4))))) if look_parents < 14 else 1))
    )
    total += (
        (((((((3 if list_share < 31 else 15) if after < 44 else 0) if depth_best < 1 else -3) if
        page_article < 1 else -2) if best_name < 1 else 7) if page_best < 31 else 3) if
        page_prose_share < 25 else ((3 if best_box < 8 else ((-24 if around_links < 1 else 2) if
        look_parents < 2 else -5)) if page_article < 1 else (((-8 if depth_best < 1 else 4) if
        in_article < 1 else 5) if window_links < 3 else -6)))
    )
    total += (
        (((((10 if after < 18 else (((-10 if in_main < 1 else 3) if section < 24 else 0) if
        look_share < 28 else (-21 if box_prose < 37 else 4))) if in_title < 11 else 4) if before <
        7 else (-1 if far_prose < 9 else ((8 if best_box < 5 else (2 if twins_length < 35 else -4))
        if far_links < 23 else 14))) if heading < 3 else -1) if repeats < 2 else (-1 if box_total <
        8 else -7))
    )
    total += (
        (-5 if after < 29 else ((((1 if last_length < 36 else ((3 if far_count < 21 else -15) if
        next_length < 29 else 4)) if look_share < 13 else ((8 if twins_length < 40 else -5) if
        box_share < 27 else (-9 if after < 34 else 2))) if heading < 3 else (12 if far_count < 11
        else ((1 if box_total < 32 else -8) if window_links < 4 else -3))) if repeats < 3 else (-5
        if look_count < 20 else 1)))
    )
    total += (
        ((((0 if look_count < 26 else (-6 if page_best < 6 else 7)) if page_prose_share < 31 else
        10) if page_prose < 58 else ((-11 if list_length < 41 else 2) if far_count < 31 else 1)) if
        heading < 4 else ((-4 if page_prose < 33 else ((21 if look_share < 6 else -3) if page_prose
        < 44 else -4)) if far_density < 7 else (6 if from_best < -39 else (-9 if page_prose_share <
        18 else (-5 if look_share < 10 else 4)))))
    )
    total += (
        ((((((-9 if worst_name < -11 else 4) if before < 23 else -8) if list_share < 2 else 6) if
        in_summary < 0 else (0 if look_prose < 5 else (4 if last_length < 14 else ((((2 if before <
        17 else -4) if tag < 10 else -17) if look_parents < 14 else 7) if look_parents < 26 else
        -6)))) if hidden < 1 else ((-8 if in_summary < 6 else 2) if tag < 10 else 2)) if in_summary
        < 24 else 5)
    )
    total += (
        ((1 if page_prose_share < 20 else ((1 if best_box < 6 else (-5 if page_prose_share < 30
        else 5)) if page_best < 31 else ((0 if before < 19 else 8) if prose_before < 32 else -8)))
        if in_summary < 3 else (((4 if parent_name < -6 else (0 if far_prose < 32 else (-20 if
        look_share < 16 else 1))) if look_parents < 2 else 1) if look_share < 19 else (-6 if
        parent_name < -29 else (-11 if far_count < 9 else 7))))
    )
    total += (
        ((1 if best_box < 10 else (((((10 if in_summary < 0 else 0) if from_best < -5 else (((0 if
        list_share < 9 else 14) if page_links < 9 else -5) if page_prose < 44 else -7)) if
        near_length < 27 else -7) if depth_best < 1 else ((0 if from_heading < 28 else (-16 if
        page_prose < 57 else 6)) if worst_distance < 7 else 5)) if in_article < 1 else 1)) if
        in_summary < 21 else (-7 if parent_name < -22 else 6))
    )
    total += (
        ((((((-1 if box_total < 3 else (-8 if box_total < 22 else 3)) if in_article < 1 else (-1 if
        twins_share < 2 else 4)) if worst_name < -9 else 1) if twins_share < 22 else 4) if
        twins_length < 45 else -10) if twins_share < 25 else (4 if worst_name < -11 else ((-5 if
        in_title < 2 else (-1 if last_length < 23 else 8)) if in_title < 10 else ((-8 if
        last_length < 19 else 7) if in_main < 1 else -15))))
    )
    total += (
        (-6 if next_links < 0 else (0 if best_box < 20 else (((-3 if look_count < 16 else 3) if
        look_prose < 22 else -11) if length < 28 else (((((-20 if look_share < 18 else 0) if length
        < 37 else 2) if window_links < 2 else 8) if page_prose < 47 else ((-5 if best_box < 24 else
        5) if page_prose < 61 else -13)) if around_links < 2 else (-2 if look_share < 4 else (0 if
        section < 37 else 10))))))
    )
    total += (
        ((((10 if after < 10 else -3) if around_links < 31 else (16 if page_prose < 43 else -3)) if
        look_length < 32 else (-8 if parent_name < -20 else 5)) if look_count < 8 else (-11 if
        length < 6 else (1 if look_length < 28 else (-9 if length < 24 else (6 if page_prose < 43
        else ((-7 if next_links < 31 else 4) if page_prose_share < 16 else (-1 if worst_distance <
        7 else (-1 if box_share < 12 else 7))))))))
    )
    total += (
        (14 if worst_name < -14 else (((1 if far_density < 7 else -8) if section < 38 else 1) if
        worst_name < -12 else (((((-7 if box_share < 17 else 6) if far_count < 28 else (-3 if
        from_title < 3 else 11)) if in_main < 1 else (5 if heading < 3 else -6)) if prose_before <
        1 else (4 if list_count < 19 else (-11 if box_share < 9 else 4))) if section < 31 else (0
        if twins_length < 32 else -2))))
    )
    total += (
        (-5 if next_length < 1 else ((3 if in_summary < 0 else ((-7 if in_main < 1 else ((8 if
        page_prose_share < 22 else -5) if heading < 3 else -6)) if section < 16 else (1 if
        look_prose < 30 else ((-15 if list_count < 21 else 5) if length < 28 else (7 if section <
        41 else (-16 if next_length < 22 else 2)))))) if section < 50 else (5 if page_prose_share <
        7 else (-5 if look_share < 26 else 5))))
    )
    total += (
        ((-10 if in_main < 1 else 4) if after < 29 else (((((0 if twins_count < 17 else ((2 if
        section < 53 else -11) if in_main < 1 else (5 if twins_length < 22 else (-7 if section < 53
        else 8)))) if far_links < 31 else 5) if section < 56 else (-7 if twins_count < 22 else 5))
        if in_summary < 22 else 5) if last_length < 37 else (-1 if ends < 1 else (-14 if in_summary
        < 6 else 3))))
    )
    total += (
        (10 if after < 11 else ((((((1 if twins_count < 12 else -11) if twins_links < 6 else 9) if
        twins_links < 27 else -8) if box_total < 1 else (-11 if page_prose < 51 else 1)) if
        list_share < 19 else (-4 if list_count < 9 else 7)) if from_title < 1 else ((-1 if
        around_links < 31 else (6 if list_count < 22 else -6)) if parent_name < -5 else ((2 if tag
        < 4 else -10) if section < 28 else 2))))
    )
    total += (
        ((((((2 if page_prose_share < 21 else ((((-5 if look_length < 31 else 6) if look_prose < 30
        else (4 if list_count < 14 else -27)) if before < 7 else (4 if near_links < 7 else -9)) if
        window_links < 2 else -2)) if repeats < 2 else (4 if prose_before < 1 else -3)) if
        look_length < 40 else -7) if section < 57 else -8) if page_links < 10 else -1) if
        look_share < 29 else (-7 if parent_name < -29 else 8))
    )
    total += (
        (1 if twins_length < 32 else ((0 if look_share < 10 else (5 if far_count < 22 else (-4 if
        in_title < 9 else ((-2 if section < 39 else -39) if near_links < 1 else -6)))) if
        list_length < 33 else (((-1 if look_share < 4 else (-14 if page_links < 15 else 5)) if
        page_prose_share < 13 else (0 if twins_length < 46 else -8)) if around_links < 19 else (-3
        if length < 22 else (17 if page_prose_share < 18 else -4)))))
    )
    total += (
        ((((((1 if page_links < 7 else 9) if page_links < 10 else -4) if around_links < 32 else 9)
        if parent_name < -27 else (1 if page_links < 4 else (((-3 if length < 20 else 1) if
        page_article < 1 else -5) if list_count < 14 else 2))) if near_length < 27 else (1 if
        best_box < 10 else (-3 if box_prose < 50 else 1))) if in_summary < 13 else ((-9 if
        worst_name < -7 else 6) if length < 28 else 6))
    )
    total += (
        (10 if after < 10 else (((5 if in_summary < 0 else -1) if worst_name < -7 else ((-11 if
        worst_distance < 1 else (8 if worst_distance < 7 else -6)) if page_prose < 48 else -14)) if
        far_prose < 18 else ((9 if twins_share < 20 else -3) if page_best < 3 else (0 if
        worst_distance < 7 else (((2 if links < 1 else (-12 if level < 1 else 4)) if name < -5 else
        4) if prose_before < 31 else -6)))))
    )
    total += (
        ((9 if in_title < 0 else ((-10 if page_links < 16 else (10 if page_links < 22 else -4)) if
        page_prose < 1 else ((0 if box_prose < 42 else 8) if box_total < 5 else ((-13 if worst_name
        < -10 else ((-10 if look_count < 12 else 4) if page_links < 15 else 7)) if page_prose_share
        < 13 else ((1 if page_best < 32 else -4) if from_title < 72 else (1 if look_length < 30
        else -9)))))) if in_summary < 24 else 5)
    )
    total += (
        (-1 if in_title < 3 else ((((2 if near_length < 27 else (4 if page_prose < 44 else (-1 if
        next_same < 1 else -7))) if page_article < 1 else ((1 if parent_name < -1 else ((6 if
        page_prose < 43 else (-5 if box_total < 20 else -17)) if list_share < 16 else 4)) if
        near_length < 30 else (7 if window_links < 12 else -11))) if around_links < 31 else 6) if
        list_share < 32 else (-9 if box_total < 29 else 7)))
    )
    total += (
        ((((((-3 if last_same < 1 else (5 if box_prose < 33 else -7)) if twins_count < 11 else 5)
        if look_count < 6 else 0) if hidden < 1 else (-5 if last_length < 21 else 2)) if
        next_length < 30 else ((0 if worst_name < -10 else 9) if page_prose < 48 else (-5 if
        far_prose < 27 else (2 if section < 57 else (-14 if far_prose < 32 else 5))))) if
        last_length < 38 else (-8 if next_length < 34 else 5))
    )
    total += (
        (((((1 if repeats < 3 else -4) if list_count < 17 else (4 if page_prose_share < 12 else
        -6)) if look_length < 36 else -6) if best_box < 29 else (4 if before < 28 else -3)) if
        last_links < 21 else ((-5 if level < 2 else (14 if page_prose_share < 7 else -3)) if
        list_count < 10 else (((-1 if in_summary < 1 else (9 if heading < 3 else 1)) if look_count
        < 22 else -4) if box_total < 31 else -11)))
    )
    total += (
        ((((((1 if far_density < 20 else (0 if prose_before < 30 else -5)) if list_length < 41 else
        -6) if list_length < 42 else (((-3 if far_count < 20 else 10) if look_parents < 32 else (-4
        if page_prose < 52 else 5)) if best_box < 20 else ((-14 if in_article < 1 else 1) if
        box_total < 29 else 7))) if twins_share < 32 else -8) if look_share < 32 else 9) if
        list_length < 51 else (3 if from_best < 0 else -12))
    )
    total += (
        (((((-2 if page_prose_share < 4 else (7 if after < 45 else -5)) if page_prose < 40 else (-4
        if look_count < 8 else (((2 if look_share < 9 else -2) if page_prose < 51 else (7 if
        in_summary < 0 else -6)) if box_total < 30 else ((-2 if look_length < 26 else -18) if
        look_length < 33 else (8 if near_length < 35 else -6))))) if page_prose < 52 else 1) if
        ends < 1 else 1) if look_share < 32 else 10)
    )
    total += (
        (-6 if length < 8 else (((-1 if best_box < 29 else ((7 if from_title < 3 else ((-16 if
        look_parents < 6 else 0) if length < 32 else (-6 if section < 42 else 9))) if from_title <
        13 else 5)) if window_links < 15 else (-14 if links < 6 else -3)) if look_parents < 14 else
        ((0 if look_prose < 29 else -10) if look_share < 15 else (-5 if parent_name < -24 else (0
        if far_density < 4 else 9)))))
    )
    return total

// Drives the desk in a headless Chromium; prints a list of [check, holds, seen] as JSON.
// usage: node desk.mjs '{"url": ..., "hostile": ..., "browser": ..., "shots": ..., "sandbox": ...}'
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"

const require = createRequire(process.cwd() + "/")
const puppeteer = require("puppeteer-core").default ?? require("puppeteer-core")
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8")
const { url, hostile, browser: executablePath, shots, sandbox } = JSON.parse(process.argv[2])
const checks = []
const check = (name, holds, seen = "") => checks.push([name, Boolean(holds), seen])

const browser = await puppeteer.launch({ executablePath, args: sandbox ? [] : ["--no-sandbox"] })
const page = await browser.newPage()
const requests = []
page.on("request", (request) => requests.push(request.url()))
page.on("dialog", async (dialog) => {
    check("no dialog opens", false, dialog.message())
    await dialog.dismiss()
})

const submit = async (selector) =>
    Promise.all([page.waitForNavigation(), page.click(selector)])
const texts = (selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.innerText))
const search = async (words) => {
    await page.goto(url)
    const box = words.includes("\n") ? "[name=more]" : "[name=q]"
    await page.$eval(box, (box, value) => (box.value = value), words)
    await submit("form[role=search] button, main form button")
}

// What a stranger's page may not become: elements that load or run, attributes that run, requests.
const inspect = async (name) => {
    const found = await page.evaluate(() => ({
        elements: [...document.querySelectorAll("script:not([src='/desk.js']),img,iframe,svg,object,embed,video,audio,base,u,i,b")].map(
            (node) => node.outerHTML),
        attributes: [...document.querySelectorAll("*")].flatMap((node) =>
            [...node.attributes].filter(({ name }) => name.startsWith("on") || name === "style")
                .map(({ name }) => name)),
        links: [...document.querySelectorAll("a[href]")].map((node) => node.protocol)
            .filter((protocol) => !["http:", "https:"].includes(protocol)),
    }))
    const strangers = requests.filter((request) => !request.startsWith(url))
    check(`${name}: nothing of a stranger is an element, attribute, link or request`,
        Object.values(found).every((list) => !list.length) && !strangers.length, [found, strangers])
}

// The small web's pages stand on this machine; pictures show their addresses as they are meant.
const showAddresses = () => page.evaluate(() => {
    for (const node of document.querySelectorAll(".address, .what, article a")) {
        const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT)
        while (walker.nextNode())
            walker.currentNode.data = walker.currentNode.data.replace(
                /http:\/\/127\.0\.0\.1:\d+\/web\//g, "https://")
    }
})

const look = async (name) => {
    await showAddresses()
    for (const scheme of ["light", "dark"]) {
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }])
        await page.evaluate(axe)
        const { violations } = await page.evaluate(() => axe.run())
        const bad = violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
        check(`${name}, ${scheme}: axe-core finds nothing serious`, !bad.length,
            bad.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]))
        if (shots) await page.screenshot({ path: `${shots}/${name}-${scheme}.png` })
    }
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }])
    await page.setViewport({ width: 390, height: 844 })
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    check(`${name}: fits a phone`, overflow <= 0, overflow)
    if (shots) await page.screenshot({ path: `${shots}/${name}-narrow.png` })
    await page.setViewport({ width: 1100, height: 800 })
}

await page.setViewport({ width: 1100, height: 800 })
await page.goto(url)
await page.keyboard.press("Tab")
const focus = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)
check("the focus is visible", focus !== "none", focus)
await look("start")

const openFocused = async () => {
    await page.goto(url)
    await page.waitForFunction(() => document.activeElement.id === "q")
}
await openFocused()
await page.keyboard.type("rye bread")
await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")])
check("the box has the focus, and Enter searches", page.url().includes("q=rye+bread"), page.url())
await openFocused()
await page.keyboard.type("rye")
await page.keyboard.press("Tab")
const next = await page.evaluate(() => document.activeElement.innerText)
check("from the box to the button it is one Tab", next === "Search", next)

const loading = page.goto(`${url}/?q=faultslow+bread`)
let progress = ""
for (let tries = 0; tries < 40 && !progress; tries++) {
    await new Promise((done) => setTimeout(done, 50))
    progress = await page.evaluate(() => {
        const line = document.querySelector(".progress:last-child")
        return document.readyState === "loading" && line?.checkVisibility() ? line.innerText : ""
    }).catch(() => "")
}
check("progress is seen while an answer is still coming", progress, progress)
if (shots) await page.screenshot({ path: `${shots}/progress.png` })
await loading
check("and is gone when the answer is there", await page.$$eval(".progress", (lines) =>
    lines.length > 0 && lines.every((line) => !line.checkVisibility())))

await search("sourdough starter")
check("a search shows results with marked words", (await texts("mark")).length > 2)
await look("search")

await search("sourdough starter\nsourdough hydration")
check("several lines are a brief with numbered sources",
    (await texts("h3")).some((text) => text.startsWith("1. ")), await texts("h3"))
check("below their questions", (await texts("h2"))[1] === "sourdough hydration", await texts("h2"))
await look("brief")

await search("sourdough starter")
await Promise.all([page.waitForNavigation(), page.click("a[href^='/read?']")])
check("a page is read here", (await texts("main")).join().includes("characters"))
const marked = await texts("article mark")
check("and keeps the question, whose words are marked", marked.length > 1, marked)
await look("read")

await page.goto(`${url}/read?url=${encodeURIComponent(hostile)}`)
check("a hostile page is shown", (await texts("main")).join().includes("harmless end"),
    (await texts("main")).join().slice(0, 500))
await inspect("read")
await search("<img src=x onerror=alert(1)> [x](javascript:alert(2)) \"><script>alert(3)</script>")
await inspect("search")

await page.goto(`${url}/history`)
const before = (await texts("li form[action='/history/forget']")).length
check("the history lists what was asked", before > 3, before)
check("and by whom", (await texts("main")).join().includes("e2e-client"),
    (await texts("main")).join().slice(0, 800))
await inspect("history")
await look("history")
await submit("li form[action='/history/forget'] button")
const after = (await texts("li form[action='/history/forget']")).length
check("an entry is forgotten", after === before - 1, [before, after])

await page.goto(`${url}/state`)
check("the state names the engines", (await texts("main")).join().includes("duckduckgo"))
await look("state")

await page.goto(`${url}/history`)
await submit("main > form[action='/history/forget'] button")
check("a page asks before everything is forgotten",
    (await texts("h1"))[0] === "Forget everything?", await texts("h1"))
await look("forget")
await submit("form[action='/history/forget'] button")
check("everything is forgotten", (await texts("main")).join().includes("Nothing has been searched"),
    (await page.content()).slice(0, 900))

const address = await search("sourdough starter").then(() => page.$eval(".results a", (a) => a.href))
await page.goto(`${url}/check`)
await page.type("#text", `It says "grow a sourdough starter from nothing" [a](${address}).\n\n` +
    `It also says "a starter must never be fed at all, whatever the weather" [a](${address}).`)
await submit("form[action='/check'] button")
check("a draft is checked", (await texts(".entries strong")).includes("verbatim"), await texts("main"))
await look("check")

check("no request has left the desk", requests.every((request) => request.startsWith(url)),
    requests.filter((request) => !request.startsWith(url)))
await browser.close()
console.log(JSON.stringify(checks))

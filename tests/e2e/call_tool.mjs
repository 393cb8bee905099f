// Calls the opencode tool without opencode, in Bun or in Node.
//
// usage: RUNTIME call_tool.mjs SEARCH_TOOLS_FILE JOB...
//
// A job is JSON: {"tool", "args", "abortAfter"?} calls a tool as opencode does, aborted after so
// many milliseconds; {"script", "words", "seconds"} runs a script with a time limit; {"list": true}
// gives the arguments of every tool; {"offered": FOLDER} the tools that the plugin would register
// there. Prints one JSON line for each job: {"bun", "seconds", "result"}.
import { pathToFileURL } from "node:url"

const [file, ...jobs] = process.argv.slice(2)
const tools = await import(pathToFileURL(file).href)

async function perform(job) {
  if (job.list) return tools.SEARCH_TOOLS
  if (job.offered) return Object.keys(tools.offeredTools({ directory: job.offered }))
  if (job.script) return tools.runScript(job.script, job.words, job.seconds)
  const abort = new AbortController()
  if (job.abortAfter) setTimeout(() => abort.abort(), job.abortAfter)
  return tools.searchTool(job.tool).execute(job.args, { abort: abort.signal })
}

for (const text of jobs) {
  const started = performance.now()
  const job = JSON.parse(text)
  const found = await perform(job)
  const result = job.list
    ? Object.fromEntries(
        Object.entries(found).map(([name, { script, command, positional, args }]) => [
          name,
          { script, command, positional, args: Object.keys(args) },
        ]),
      )
    : found
  const seconds = (performance.now() - started) / 1000
  console.log(JSON.stringify({ bun: typeof Bun !== "undefined", seconds, result }))
}
process.exit(0)

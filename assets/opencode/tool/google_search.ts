// Part of the web-search skill: Google results in opencode, as the tool google_search.
//
// opencode names the tool after this file, and loads every file of this folder (not of the
// folders in it). Copy it, never link it: through a link @opencode-ai/plugin is not found, and
// then every prompt fails.
import { searchTool } from "./shared/search_tools.ts"

export default searchTool("google_search")

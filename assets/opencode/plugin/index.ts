// Part of the web-search skill: every search tool whose script is there, registered as a plugin.
//
// opencode calls each export of a plugin file, so this one exports a single function.
import type { Plugin } from "@opencode-ai/plugin"
import { offeredTools } from "../tool/shared/search_tools.ts"

export const WebSearch: Plugin = async ({ directory, worktree }) => ({
  tool: offeredTools({ directory, worktree }),
})

// Part of the web-search skill: a plugin that registers every search tool whose script exists.
//
// opencode calls each export of a plugin file, so this one exports a single function.
import type { Plugin } from "@opencode-ai/plugin"
import { offeredTools } from "../tool/shared/search_tools.ts"

export const WebSearch: Plugin = async ({ directory, worktree }) => ({
  tool: offeredTools({ directory, worktree }),
})

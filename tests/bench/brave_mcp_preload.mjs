// For `node --import`: lets the official Brave MCP server, whose API address is fixed, ask the
// server at BRAVE_LOCAL_URL instead. Nothing else can be reached.
const api = "https://api.search.brave.com";
const local = new URL(process.env.BRAVE_LOCAL_URL).origin;
const send = globalThis.fetch;

globalThis.fetch = (resource, options) => {
  const asked = new URL(resource instanceof Request ? resource.url : resource);
  if (asked.origin !== api) {
    return Promise.reject(new TypeError(`${asked.origin} is not the Brave Search API`));
  }
  return send(local + asked.pathname + asked.search, options);
};

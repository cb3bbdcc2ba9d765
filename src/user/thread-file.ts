/**
 * The file of a thread: `<path>.worker.ts` in a checkout, `<path>.worker.js` once built.
 *
 * @param path from the module that starts it
 * @param moduleUrl `import.meta.url` of that module
 */
export const threadFile = (path: string, moduleUrl: string): URL =>
  new URL(`${path}.worker.${moduleUrl.endsWith('.ts') ? 'ts' : 'js'}`, moduleUrl)

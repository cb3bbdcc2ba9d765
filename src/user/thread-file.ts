/**
 * The file of a thread: `<path>.worker.ts` in a checkout, `<path>.worker.js` once built.
 *
 * @param path from the module that starts it
 * @param moduleUrl `import.meta.url` of that module
 */
export function threadFile(path: string, moduleUrl: string): URL {
  return new URL(`${path}.worker.${moduleUrl.endsWith('.ts') ? 'ts' : 'js'}`, moduleUrl)
}

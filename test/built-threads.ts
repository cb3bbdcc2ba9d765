/** In tests, modules of `src/` start the built threads (`test/built.ts`): a thread of sources takes twice as long to start. */
export function threadFile(path: string, moduleUrl: string): URL {
  const built = moduleUrl.replace('/src/', '/dist/').replace(/ts$/, 'js')
  return new URL(`${path}.worker.js`, built)
}

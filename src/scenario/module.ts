import { pathToFileURL } from 'node:url'
import { ScenarioError } from './issues.ts'

/** The default export of a scenario's module. Sending threads import it too, for its functions. */
export async function importScenario(full: string, path = full): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(full).href)) as { readonly default?: unknown }
    if (module.default !== undefined) return module.default
  } catch (error) {
    throw fileIssue(path, error as NodeJS.ErrnoException)
  }
  throw new ScenarioError(path, [
    { path: [], line: null, message: 'expected a default export made by defineScenario.' },
  ])
}

export function fileIssue(path: string, error: NodeJS.ErrnoException): ScenarioError {
  const missing = error.code === 'ENOENT' || error.code === 'ERR_MODULE_NOT_FOUND'
  const message = missing
    ? 'there is no such file.'
    : `it cannot be read: ${error.message.split('\n')[0]}`
  return new ScenarioError(path, [{ path: [], line: null, message }])
}

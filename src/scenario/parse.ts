import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Document, isMap, isScalar, LineCounter } from 'yaml'
import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import { holdsItself } from '../user/holds-itself.ts'
import { yamlDocument } from '../user/yaml.ts'
import { buildScenario } from './build.ts'
import type { Origin } from './file/origin.ts'
import {
  type ScenarioInput,
  type ScenarioOutput,
  scenarioFile,
  scenarioModule,
} from './file/scenario-file.ts'
import { issuesOf, type Path, ScenarioError, type ScenarioIssue } from './issues.ts'
import { fileIssue, importScenario } from './module.ts'
import { crossIssues } from './references.ts'
import type { Scenario } from './scenario.ts'

/**
 * Reads a scenario: YAML, or a module (`.ts`, `.mts`, `.js`, `.mjs`) with a default export made by
 * `defineScenario`.
 *
 * @param contract source of the deadlines that the scenario omits
 * @throws ScenarioError with every issue and its line
 * @example
 * const scenario = await loadScenario('scenarios/quick.yaml')
 * console.log(scenario.question)
 */
export async function loadScenario(
  path: string,
  contract: Contract = defaultContract,
): Promise<Scenario> {
  const full = foundPath(path)
  if (['.ts', '.mts', '.js', '.mjs'].includes(extname(path))) {
    return checkModule(await importScenario(full, path), path, full, contract)
  }
  const text = await readFile(full, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw fileIssue(path, error)
  })
  return parseScenario(text, path, contract)
}

/** A path that begins with `scenarios/` also names a scenario of the package. */
function foundPath(path: string): string {
  const own = resolve(path)
  if (existsSync(own) || !/^scenarios[/\\]/.test(path)) return own
  const shipped = fileURLToPath(new URL(`../../${path.replaceAll('\\', '/')}`, import.meta.url))
  return existsSync(shipped) ? shipped : own
}

/**
 * Checks the text of a scenario file.
 *
 * @param path for errors; its folder is that of relative paths
 * @throws ScenarioError with every issue and its line
 * @example
 * const scenario = parseScenario(`
 * name: steady
 * question: Does the service sustain five requests per second?
 * model: svc-k2
 * steps: { chat: { endpoint: chat } }
 * phases: [{ name: steady, load: poisson, rate: 5/s, duration: 30s }]
 * `)
 * console.log(scenario.phases.length)
 */
export function parseScenario(
  text: string,
  path = 'scenario.yaml',
  contract: Contract = defaultContract,
): Scenario {
  const lines = new LineCounter()
  const document = yamlDocument(text, { lineCounter: lines, merge: true })
  if (document.errors.length > 0) {
    throw new ScenarioError(
      path,
      document.errors.map((error) => ({
        path: [],
        line: error.linePos?.[0].line ?? null,
        message: `this is not YAML: ${error.message.split('\n')[0]?.replace(/ at line .*$/, '')}.`,
      })),
    )
  }
  const lineOf = (place: Path) => lineAt(document, lines, place)
  const file = checked(scenarioFile, document.toJS(), path, lineOf)
  return buildScenario(file, originOf(resolve(path), null, contract))
}

/** @throws ScenarioError with every issue, and the lines that are known */
function checked(
  form: typeof scenarioFile | typeof scenarioModule,
  data: unknown,
  path: string,
  lineOf: (place: Path) => number | null = () => null,
): ScenarioOutput {
  const parsed = form.safeParse(data)
  const issues = [
    ...(parsed.success ? [] : issuesOf(parsed.error, data, lineOf)),
    ...crossIssues(data).map((issue): ScenarioIssue => ({ ...issue, line: lineOf(issue.path) })),
  ]
  if (!parsed.success || issues.length > 0) throw new ScenarioError(path, issues)
  return parsed.data
}

/** @throws ScenarioError for a value that is part of itself */
function mustEnd<T>(data: T, path: string): T {
  if (!holdsItself(data)) return data
  const message = 'a value is part of itself; write it out, or leave the alias out.'
  throw new ScenarioError(path, [{ path: [], line: null, message }])
}

/**
 * A scenario from an object, as `defineScenario` takes it. Paths in it are relative to the working folder. A prompt
 * that is a function needs a module (`loadScenario`), because each sending thread imports it.
 *
 * @throws ScenarioError with every issue
 * @example
 * const scenario = scenarioFrom({
 *   ...{ name: 'steady', question: 'Does it hold?', model: 'svc-k2' },
 *   steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
 *   phases: [{ name: 'steady', load: 'constant', rate: '10/s', duration: '2s' }],
 * })
 * console.log(scenario.phases[0]!.name)
 */
export function scenarioFrom(input: ScenarioInput, contract: Contract = defaultContract): Scenario {
  const path = 'scenario'
  const file = checked(scenarioFile, mustEnd(input, path), path)
  return buildScenario(file, originOf(resolve(path), null, contract))
}

function checkModule(data: unknown, path: string, full: string, contract: Contract): Scenario {
  const file = checked(scenarioModule, mustEnd(data, path), path)
  return buildScenario(file, originOf(full, full, contract))
}

const originOf = (full: string, modulePath: string | null, contract: Contract): Origin => ({
  folder: dirname(full),
  modulePath,
  contract,
})

/** Line of the deepest part of the path that is in the file. */
function lineAt(document: Document, lines: LineCounter, path: Path): number | null {
  for (let length = path.length; length > 0; length--) {
    const parent = document.getIn(path.slice(0, length - 1), true)
    const name = path[length - 1]
    // Use the key's line, because a block value begins on the next line.
    const pair = isMap(parent)
      ? parent.items.find((item) => isScalar(item.key) && item.key.value === name)
      : undefined
    const node = pair?.key ?? document.getIn(path.slice(0, length), true)
    const range = (node as { range?: readonly number[] } | null | undefined)?.range
    if (range?.[0] !== undefined) return lines.linePos(range[0]).line
  }
  return 1
}

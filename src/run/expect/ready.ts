import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { types } from 'node:util'
import type { AnswerCheck, ScenarioInput } from '../../scenario/define.ts'
import { importScenario } from '../../scenario/module.ts'
import type { Scenario } from '../../scenario/scenario.ts'
import type { Expectation, JsonSchema } from '../../scenario/steps.ts'
import { installed } from '../../user/installed.ts'
import { userError } from '../../user/user-error.ts'
import type { ReadyExpectation, SchemaCheck } from './judge.ts'

/**
 * Compiles what the steps of a scenario expect, by step. Functions and compiled schemas cannot be sent to a thread, so
 * the thread that judges calls this, too.
 *
 * @throws UserError for a schema or a module that cannot be read, or a library that is missing
 */
export function readyExpectations(
  scenario: Pick<Scenario, 'steps' | 'modulePath'>,
): Promise<readonly (readonly ReadyExpectation[])[]> {
  return Promise.all(
    scenario.steps.map(({ name, expect }) =>
      Promise.all(expect.map((each) => ready(each, name, scenario.modulePath))),
    ),
  )
}

/** Whether any step says what its answers must hold. */
export const expectsAnswers = ({ steps }: Pick<Scenario, 'steps'>) =>
  steps.some(({ expect }) => expect.length > 0)

async function ready(
  expectation: Expectation,
  step: string,
  modulePath: string | null,
): Promise<ReadyExpectation> {
  switch (expectation.kind) {
    case 'matches':
      return { kind: 'matches', pattern: new RegExp(expectation.pattern, 'u') }
    case 'json':
      return { kind: 'json', holds: await schemaCheck(expectation.json, step) }
    case 'tool': {
      const { name, arguments: schema } = expectation
      return { kind: 'tool', name, holds: schema === null ? null : await schemaCheck(schema, step) }
    }
    case 'check':
      return {
        kind: 'check',
        judge:
          expectation.path === null
            ? await ownCheck(step, modulePath)
            : await checkOf(expectation.path, step),
      }
    default:
      return expectation
  }
}

async function checkOf(path: string, step: string): Promise<AnswerCheck> {
  let judge: unknown
  try {
    judge = ((await import(pathToFileURL(path).href)) as { readonly default?: unknown }).default
  } catch (error) {
    throw issue(step, `the module ${path} cannot be loaded: ${firstLine(error)}`)
  }
  if (typeof judge === 'function') return synchronous(judge as AnswerCheck, step)
  throw issue(step, `the default export of ${path} is no function. Export (answer) => true`)
}

/** A promise is never awaited, so every answer would be unchecked, after it was paid for. */
function synchronous(judge: AnswerCheck, step: string): AnswerCheck {
  if (!types.isAsyncFunction(judge)) return judge
  throw issue(step, 'its function is async. Return true, false or why it is wrong, no promise')
}

async function ownCheck(step: string, modulePath: string | null): Promise<AnswerCheck> {
  const module = modulePath === null ? null : ((await importScenario(modulePath)) as ScenarioInput)
  const judge = module?.steps[step]?.expect?.check
  if (typeof judge === 'function') return synchronous(judge, step)
  throw issue(step, 'a function needs a module of the scenario')
}

async function schemaCheck(json: JsonSchema, step: string): Promise<SchemaCheck> {
  const schema = 'path' in json ? schemaIn(json.path, step) : json.schema
  if (schema === true) return () => null
  const Ajv = await loadAjv(String((schema as { readonly $schema?: unknown }).$schema ?? ''))
  const ajv = new Ajv({ strict: false, validateFormats: false })
  try {
    const holds = ajv.compile(schema as object)
    return (value) => (holds(value) ? null : ajv.errorsText(holds.errors, { dataVar: '' }).trim())
  } catch (error) {
    throw issue(step, `no JSON Schema: ${firstLine(error)}`)
  }
}

function schemaIn(path: string, step: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw issue(step, `the schema ${path} cannot be read: ${firstLine(error)}`)
  }
}

const loadAjv = (draft: string) =>
  installed(
    async () =>
      /draft-0[67]/.test(draft)
        ? (await import('ajv')).Ajv
        : (await import('ajv/dist/2020.js')).Ajv2020,
    'The library of JSON Schemas',
    ['ajv'],
    'run',
  )

const issue = (step: string, why: string) =>
  userError.run(`What step ${step} expects cannot be checked: ${why}.`)

const firstLine = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]

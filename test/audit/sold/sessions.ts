import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { audit } from '../../../src/audit/audit.ts'
import { drawsOf } from '../../../src/audit/evidence/sold/chance.ts'
import type { Verdict } from '../../../src/audit/verdict.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { appendAttempts, Recorder } from '../../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../../report/attempts.ts'
import { inEmptyStore, type Store } from '../../store/opened.ts'
import { words } from './texts.ts'

/** For each prompt, the chance of its likelier first token. */
export type TokenModel = readonly number[]

export const modelOf = (seed: string): TokenModel => {
  const draw = drawsOf(seed)
  return words.map(() => 0.05 + 0.9 * draw())
}

/** Another model for each prompt: no share is near. */
export const otherThan = (model: TokenModel): TokenModel =>
  model.map((share) => (share < 0.5 ? share + 0.45 : share - 0.45))

export const firstUs = Date.UTC(2026, 2, 1, 9) * 1000
export const halfDayUs = 43_200e6

export interface Session {
  readonly model: TokenModel
  readonly atUs: number
  readonly baseUrl?: string
  readonly named?: string
  readonly prompts?: readonly string[]
  /** Answers to each prompt. */
  readonly samples?: number
  /** Tokens that are counted beside each word of one. */
  readonly beside?: number
  readonly keyFp?: string
  /** The text of every answer. */
  readonly text?: string
}

/** Enters each session as a run of its own, with a first request before its load, as each run has. */
export async function enterSessions(store: Store, sessions: readonly Session[]): Promise<void> {
  const rows: AttemptRow[] = []
  const recorder = await Recorder.open(store)
  for (const [at, session] of sessions.entries()) {
    const {
      model,
      atUs,
      baseUrl = 'http://shop',
      named = 'svc-k2',
      prompts = words,
      samples = 5,
      beside = 7,
      keyFp = 'own',
    } = session
    const runId = `session ${at}`
    await enterEndedRun(store, runId, { baseUrl, startedAtUs: atUs })
    const draw = drawsOf(`${runId} ${baseUrl}`)
    recorder.append(
      'templates',
      prompts.map((content, template) => ({
        ...{ runId, template, step: 'token', method: 'POST', path: '/v1/chat/completions' },
        ...{ headers: '{}', maxTokens: 1, n: null, promptHash: content },
        body: JSON.stringify({
          model: named,
          max_tokens: 1,
          messages: [{ role: 'user', content }],
        }),
      })),
    )
    for (let slot = 0; slot <= prompts.length * samples; slot++) {
      const template = slot % prompts.length
      const first = slot === 0 ? { phase: 'first requests', part: 'warmup' } : {}
      rows.push(
        attempt(slot, {
          ...{ runId, template, model: named, keyFp, ...first },
          ...{ promptTokens: 1 + beside, completionTokens: 1 },
        }),
      )
      const content = session.text ?? (draw() < model[template]! ? 'The' : 'A')
      recorder.appendBodies([
        {
          ...{ runId, slot, retry: 0, headers: '', truncated: false },
          body: JSON.stringify({
            choices: [{ index: 0, message: { role: 'assistant', content } }],
          }),
        },
      ])
    }
  }
  recorder.flush()
  await recorder.close()
  await appendAttempts(store, rows)
}

/** The verdict of a rule on sessions, by a contract whose one model promises `more`. */
export async function verdictOnSessions(
  rule: string,
  sessions: readonly Session[],
  more: object,
): Promise<Verdict> {
  return inEmptyStore(async (store) => {
    await enterSessions(store, sessions)
    const contract = parseContract({ name: 'sold', models: [{ id: 'svc-k2', ...more }] }, 'c.yaml')
    const { findings } = await audit(store, {
      ...{ contract, auditId: 'audit-1', auditedAt: new Date(0), rules: [rule] },
    })
    return findings[0]!.verdict
  })
}

/** So many sessions, twice a day; from `changeAt` on, another model. */
export const watched = (count: number, changeAt = count, seed = 'watch'): readonly Session[] => {
  const model = modelOf(seed)
  const other = otherThan(model)
  return Array.from({ length: count }, (_, at) => ({
    model: at < changeAt ? model : other,
    atUs: firstUs + at * halfDayUs,
  }))
}

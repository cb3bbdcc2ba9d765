import { type Model, modelNamed } from '../../../contract/contract.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { isList, isObject, type Json, jsonOf } from '../../../user/json.ts'
import type { Evidence } from '../../rule.ts'
import type { Witness } from '../../verdict.ts'
import { leastPrompts } from './apart.ts'
import { type LoadKind, loadKinds } from './load-kinds.ts'
import { soleTextOf } from './sole-texts.ts'
import type { Shares } from './watch.ts'

/** Answers of one token to short prompts, some of them asked again and again: those of a phase, or an equal part of a longer load. */
export interface TokenSession {
  readonly model: Model
  /** Its first request, in microseconds UTC. */
  readonly atUs: number
  /** Of the key of its first request. */
  readonly keyFp: string | null
  /** For each prompt, how often each text was the first token. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly witness: Witness
}

interface Row {
  readonly runId: string
  readonly phase: string
  readonly model: string
  readonly slot: number
  readonly retry: number
  readonly keyFp: string | null
  readonly atUs: number
  readonly request: string
  readonly response: string
}

/** Longer bodies hold no short prompt. */
const mostRequestLetters = 2_000
const mostPromptLetters = 200
/** A phase of such a share of the first one's answers is a session as it is. */
const [leastShare, mostShare] = [0.8, 1.5]
/** Fewer answers to a prompt are no share. */
const leastAnswers = 2

interface TokenAnswer {
  readonly row: Row
  readonly prompt: string
  readonly token: string
}

/** The answers of a phase to one model, in order of time. */
interface TokenPhase {
  readonly runId: string
  readonly model: Model
  readonly load: LoadKind
  readonly answers: TokenAnswer[]
}

/** The promise that makes a model one that is judged; null for every model of the contract. */
type Promised = 'fixed' | 'reference' | null

/**
 * The sessions of runs, oldest first: plain stored chat answers to one short text with `max_tokens: 1`. Shares of fewer answers
 * vary more, so sessions are cut to about the size of the first phase. Of a run at rest and under load, those at rest.
 */
export async function tokenSessions(
  evidence: Evidence,
  promised: Promised,
): Promise<readonly TokenSession[]> {
  const phases = await tokenPhases(evidence, promised)
  const loaded = new Set(phases.filter(({ load }) => load === 'one user').map(({ runId }) => runId))
  const alone = phases.filter(({ runId, load }) => load !== 'many' || !loaded.has(runId))
  return [...Map.groupBy(alone, ({ model }) => model).values()]
    .flatMap((own) => sessionsOf(own, sizeOf(own)))
    .toSorted((a, b) => a.atUs - b.atUs)
}

/** What a run asked of a model at rest and under load. */
export interface LoadedRun {
  readonly model: Model
  readonly runId: string
  /** Answers of a session. */
  readonly size: number
  readonly rest: readonly TokenSession[]
  readonly load: readonly TokenSession[]
  /** Answers under load, also those that are no whole session, and the time that they took. */
  readonly loadAnswers: number
  readonly loadUs: number
}

/** The runs that have phases of one user and phases of a load, a search above all, that ask the same. */
export async function loadedRuns(
  evidence: Evidence,
  promised: Promised,
): Promise<readonly LoadedRun[]> {
  const phases = await tokenPhases(evidence, promised)
  const groups = Map.groupBy(phases, ({ runId, model }) => JSON.stringify([runId, model.id]))
  return [...groups.values()].flatMap((own) => {
    const of = (load: LoadKind) => own.filter((phase) => phase.load === load)
    const [rest, load] = [of('one user'), of('many')]
    if (rest.length === 0 || load.length === 0) return []
    const { model, runId } = own[0]!
    const size = sizeOf(rest)
    if (size === 0) return []
    const times = load.flatMap(({ answers }) => answers.map(({ row }) => row.atUs))
    return {
      ...{ model, runId, size },
      rest: sessionsOf(rest, size),
      load: sessionsOf(load, size),
      loadAnswers: times.length,
      loadUs: largest(times) - smallest(times),
    }
  })
}

async function tokenPhases(
  { store, runIds, contract: { models = [] } }: Evidence,
  promised: Promised,
): Promise<readonly TokenPhase[]> {
  const rows = await store.rows<Row>(
    `SELECT run_id AS "runId", phase, model, slot, retry, key_fp AS "keyFp", templates.body AS request, bodies.body AS response,
       epoch_us(started_at)::DOUBLE + sent_us * time_scale AS "atUs"
     FROM attempts JOIN runs USING (run_id) JOIN templates USING (run_id, template)
       JOIN bodies USING (run_id, slot, retry)
     WHERE list_contains($1::VARCHAR[], run_id) AND outcome = 'ok' AND endpoint = 'chat' AND model IS NOT NULL
       AND templates.max_tokens = 1 AND NOT truncated AND sent_us IS NOT NULL AND prompt_hash IS NOT NULL
       AND length(templates.body) <= ${mostRequestLetters} AND bodies.body IS NOT NULL
     ORDER BY "atUs", run_id, slot, retry`,
    [JSON.stringify(runIds)],
  )
  const loadOf = await loadKinds(store, runIds)
  const texts = new Map<string, string | null>()
  const promptOf = (body: string) => {
    if (!texts.has(body)) {
      const text = soleTextOf(jsonOf(body))
      texts.set(body, text === null || text.length > mostPromptLetters ? null : text)
    }
    return texts.get(body)!
  }
  const phases = new Map<string, TokenPhase>()
  for (const row of rows) {
    const model = modelNamed(models, row.model)
    if (model === undefined || (promised !== null && model[promised] === undefined)) continue
    const prompt = promptOf(row.request)
    const token = firstTokenOf(jsonOf(row.response))
    if (prompt === null || token === null) continue
    const { runId } = row
    const name = JSON.stringify([runId, row.phase, model.id])
    const phase = phases.get(name) ?? { runId, model, load: loadOf(runId, row.phase), answers: [] }
    phases.set(name, phase)
    phase.answers.push({ row, prompt, token })
  }
  return [...phases.values()]
}

/** Answers of the first phase of a model that is a session; 0 if none is. A first request, and a run that was stopped early, is none. */
const sizeOf = (phases: readonly TokenPhase[]): number =>
  phases.find(({ model, answers }) => sessionOf(model, answers) !== null)?.answers.length ?? 0

/** Phases as they are where they are about of that size, and parts of that size of the others of a run. */
function sessionsOf(phases: readonly TokenPhase[], size: number): readonly TokenSession[] {
  if (size === 0) return []
  const isEqual = ({ answers }: TokenPhase) =>
    answers.length >= leastShare * size && answers.length <= mostShare * size
  const others = Map.groupBy(
    phases.filter((phase) => !isEqual(phase)),
    ({ runId }) => runId,
  )
  const parts = [...others.values()].flatMap((own) => {
    const answers = own.flatMap((phase) => phase.answers)
    return Array.from({ length: Math.floor(answers.length / size) }, (_, at) =>
      answers.slice(at * size, (at + 1) * size),
    )
  })
  const { model } = phases[0]!
  return [...phases.filter(isEqual).map(({ answers }) => answers), ...parts].flatMap(
    (part) => sessionOf(model, part) ?? [],
  )
}

/** Null for too few prompts, and if no answer has any text: a token of hidden reasoning tells no model from another. */
function sessionOf(model: Model, part: readonly TokenAnswer[]): TokenSession | null {
  if (part.every(({ token }) => token === '')) return null
  const all = new Map<string, Map<string, number>>()
  for (const { prompt, token } of part) {
    const tokens = all.get(prompt) ?? new Map<string, number>()
    tokens.set(token, (tokens.get(token) ?? 0) + 1)
    all.set(prompt, tokens)
  }
  const answers = new Map([...all].filter(([, tokens]) => totalOf(tokens) >= leastAnswers))
  if (answers.size < leastPrompts) return null
  const { runId, slot, retry, keyFp, atUs } = part[0]!.row
  return { model, atUs, keyFp, answers, witness: { runId, slot, retry, shows: shownTime(atUs) } }
}

/** Texts of one token that a plain answer holds; null for anything else. */
function firstTokenOf(answer: Json | undefined): string | null {
  const [choice] = isObject(answer) && isList(answer.choices) ? answer.choices : []
  const message = isObject(choice) ? choice.message : undefined
  return isObject(message) && typeof message.content === 'string' ? message.content : null
}

const totalOf = (tokens: ReadonlyMap<string, number>) =>
  [...tokens.values()].reduce((sum, each) => sum + each, 0)

/** Share of the answers to a prompt that are this token; null if the prompt was not asked. */
export function shareOf({ answers }: TokenSession, prompt: string, token: string): number | null {
  const tokens = answers.get(prompt)
  return tokens === undefined ? null : (tokens.get(token) ?? 0) / totalOf(tokens)
}

/** For each prompt, the likeliest first token over sessions; of equal ones the first in order of their text. */
export function likeliestOf(sessions: readonly TokenSession[]): ReadonlyMap<string, string> {
  const sums = new Map<string, Map<string, number>>()
  for (const { answers } of sessions)
    for (const [prompt, tokens] of answers) {
      const sum = sums.get(prompt) ?? new Map<string, number>()
      for (const [token, times] of tokens) sum.set(token, (sum.get(token) ?? 0) + times)
      sums.set(prompt, sum)
    }
  return new Map(
    [...sums].map(([prompt, tokens]) => [
      prompt,
      [...tokens].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]![0],
    ]),
  )
}

/** For each session, the shares of these first tokens. */
export const sharesOf = (
  sessions: readonly TokenSession[],
  tokens: readonly (readonly [prompt: string, token: string])[],
): readonly Shares[] =>
  sessions.map((session) => tokens.map(([prompt, token]) => shareOf(session, prompt, token)))

/** `2026-03-14 09:00 UTC`. */
export const shownTime = (us: number) =>
  `${new Date(us / 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Whether a session is one since the day from which on its model does not change. */
export const isSinceFixed = ({ model, atUs }: TokenSession) =>
  typeof model.fixed !== 'string' || atUs >= Date.parse(`${model.fixed}T00:00:00Z`) * 1000

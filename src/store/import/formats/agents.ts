import { isObject } from '../../../user/json.ts'
import { RunningTotals } from '../lines/running-totals.ts'
import type { KnownFormat } from './format.ts'
import { at, type Fields, first, listOf, type NormalRow, tokensOf } from './row.ts'

/**
 * Sessions of Claude Code. An answer is in several lines of one message id, of which the last has the whole usage; lines
 * of users, `<synthetic>` answers and lines without usage are no requests (ccusage/ccusage#901, #888, #985).
 */
export const claudeCode: KnownFormat = {
  name: 'Claude Code sessions',
  source: 'claude-code',
  hasVersions: true,
  newest: 'most output',
  recognises: (has, text) =>
    has('sessionId') &&
    has('message') &&
    has('timestamp') &&
    (has('cache_creation_input_tokens') || has('parentUuid') || has('isSidechain')) &&
    text.includes('"assistant"'),
  leavesOut: 'no answer with usage',
  *rows(document) {
    const { message } = document
    if (document.type !== 'assistant' || !isObject(message) || !isObject(message.usage)) return
    if (message.model === '<synthetic>') return
    yield {
      id: String(first(message.id, document.requestId, document.uuid) ?? ''),
      time: document.timestamp,
      version: document.timestamp,
      model: message.model,
      endpoint: 'messages',
      ...tokensOf(message.usage, 'anthropic'),
    }
  },
}

const codexTotals = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
] as const

/**
 * Sessions of Codex. `token_count` states a running total, again and again; the model stands in an earlier line, and the
 * id of the session in its first line only (openai/codex#5276, ccusage/ccusage#884 and #1288).
 */
export const codex: KnownFormat = {
  name: 'Codex sessions',
  source: 'codex',
  withoutIds: true,
  recognises: (has, text) =>
    has('payload') &&
    (text.includes('"session_meta"') ||
      text.includes('"turn_context"') ||
      has('total_token_usage')),
  leavesOut: 'no count of tokens',
  rows: () => [],
  reader(notes) {
    const totals = new RunningTotals()
    const models = new Map<string, unknown>()
    let session = ''
    return {
      *rows(document): Generator<NormalRow> {
        const { payload, type } = document
        if (!isObject(payload)) return
        if (type === 'session_meta') session = String(payload.id ?? session)
        if (type === 'turn_context') models.set(session, payload.model)
        const total = at(payload, 'info', 'total_token_usage')
        if (type !== 'event_msg' || payload.type !== 'token_count' || !isObject(total)) return
        const stated = codexTotals.map((name) =>
          first(total[name]) === undefined ? null : String(total[name]),
        )
        const { step, values } = totals.add(session, stated)
        if (step === 'repeated') return
        const [input, cached, output, reasoning] = values.map((text) =>
          text === null ? null : Number(text),
        )
        yield {
          time: document.timestamp,
          model: models.get(session) ?? null,
          endpoint: 'responses',
          input: input ?? null,
          cached: cached ?? null,
          output: output ?? null,
          reasoning: reasoning ?? null,
        }
      },
      end() {
        if (totals.repeated > 0) notes.push(`${totals.repeated} equal totals: each counts once`)
        if (totals.restarts > 0)
          notes.push(`${totals.restarts} totals begin anew, lower than before`)
      },
    }
  },
}

const wordsForZero = ['included', 'free', '-']

/** Cursor's CSV of usage. Its columns of input are disjoint (junhoyeo/tokscale#1154, pingdotgg/t3code#6046). */
export const cursor: KnownFormat = {
  name: 'Cursor usage',
  source: 'cursor',
  withoutIds: true,
  recognises: (has) => has('Input (w/ Cache Write)') && has('Input (w/o Cache Write)'),
  needed: ['Date', 'Model', 'Cache Read', 'Output Tokens'],
  *rows(row) {
    const count = (name: string) => (first(row[name]) === undefined ? 0 : Number(row[name]))
    const [written, plain, cached] = [
      count('Input (w/ Cache Write)'),
      count('Input (w/o Cache Write)'),
      count('Cache Read'),
    ]
    const cost = String(row.Cost ?? '').trim()
    const kind = String(row.Kind ?? '')
    yield {
      time: row.Date,
      model: row.Model,
      input: written + plain + cached,
      cached,
      cacheWrite: written,
      output: count('Output Tokens'),
      cost: wordsForZero.includes(cost.toLowerCase()) ? '0' : cost.replace(/^\$/, ''),
      unit: 'USD',
      ...(/^errored/i.test(kind) ? { outcome: 'http_error' } : {}),
      ...(/^aborted/i.test(kind) ? { outcome: 'aborted' } : {}),
    }
  },
}

/**
 * Sessions of Gemini CLI: a message is written again when its tokens or tool calls come, with the same time; `$set`
 * repeats messages, and `$rewindTo` takes no use back (google-gemini/gemini-cli, `chatRecordingService.ts`).
 */
export const geminiCli: KnownFormat = {
  name: 'Gemini CLI sessions',
  source: 'gemini-cli',
  hasVersions: true,
  recognises: (has, text) =>
    (has('projectHash') && has('sessionId')) ||
    (/"type"\s*:\s*"gemini"/.test(text) && has('tokens')),
  leavesOut: 'no answer with tokens',
  *rows(document) {
    const set = at(document, '$set', 'messages')
    // Without a version, it counts only if no line of its own has the message: any version is newer.
    for (const message of listOf(set)) yield* geminiRow(message, null)
    yield* geminiRow(document, document.timestamp)
    for (const message of listOf(document.messages)) yield* geminiRow(message, message.timestamp)
  },
}

function* geminiRow(message: Fields, version: unknown): Generator<NormalRow> {
  const { tokens } = message
  if (message.type !== 'gemini' || !isObject(tokens)) return
  const count = (name: string) => (first(tokens[name]) === undefined ? null : Number(tokens[name]))
  const [input, output] = [count('input'), count('output')]
  yield {
    id: String(message.id ?? ''),
    time: message.timestamp,
    version,
    model: message.model,
    input: input === null ? null : input + (count('tool') ?? 0),
    cached: count('cached'),
    output: output === null ? null : output + (count('thoughts') ?? 0),
    reasoning: count('thoughts'),
  }
}

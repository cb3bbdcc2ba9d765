import type { Draw } from './draw.ts'
import { type Ending, type Model, type Need, type Part, parts, type Terms } from './terms.ts'

export type Counts = Readonly<Record<Part, number>>

/** A request with its answer. Times are seconds since the run began. */
export interface Ask {
  /** Its name in its world; it keeps it when others are left out. */
  readonly nth: number
  readonly at: number
  readonly seconds: number
  /** The name that it asks for: a model, or its alias. */
  readonly model: string
  readonly prompt: string
  readonly dialect: 'chat' | 'messages'
  readonly isStream: boolean
  /** What the answer has whole. */
  readonly counts: Counts
  /** Whether it lets the model search. */
  readonly maySearch: boolean
  readonly searches: number
  readonly ended: 'ok' | Ending
  /** Events with text that came before the client left. */
  readonly received: number
  /** What a service generated, in tokens, before it saw that its client was gone. */
  readonly generated: number
  readonly isFlex: boolean
  readonly account: string
  /** Details of the usage that the answer leaves out, by their names. */
  readonly silent?: readonly string[]
  /** Which earlier request a cache of the gateway answers it from. */
  readonly repeats: number | null
  /** Another endpoint than that of the dialect; its answers have no id. */
  readonly other?: 'embeddings' | 'transcriptions'
  /** Tenths of a second of the sound that was sent. */
  readonly soundTenths?: number
  /** How the answer was made, if in several passes; the last one has its counts. */
  readonly passes?: readonly Pass[]
}

/** One pass of an answer. A `message` before a `fallback_message` gave way to it. */
export interface Pass {
  readonly kind: 'compaction' | 'message' | 'fallback_message'
  /** Null: the answer names none. */
  readonly model: string | null
  readonly counts: Counts
}

export const promptTokens = ({ input, cache_read, cache_write, cache_write_1h }: Counts) =>
  input + cache_read + cache_write + cache_write_1h
export const outputTokens = ({ output, reasoning }: Counts) => output + reasoning
export const modelOf = ({ models }: Terms, name: string): Model =>
  models.find(({ id, alias }) => id === name || alias === name)!

/** The model that an answer names. */
export const answeredBy = ({ passes, model }: Ask): string => passes?.at(-1)?.model ?? model

interface Prompt {
  readonly name: string
  readonly tokens: number
  readonly cached: number
  readonly dialect: 'chat' | 'messages'
  readonly outputTokens: number
  readonly maySearch: boolean
}

/** Requests that an honest service answers; at least one of each kind that is needed. */
export function drawAsks(draw: Draw, terms: Terms, needs: ReadonlySet<Need>): readonly Ask[] {
  const dialect = draw.one(['chat', 'messages', 'both'] as const)
  const isSteady = draw.chance(0.5)
  const prompts = Array.from({ length: draw.whole(1, 4) }, (_, at): Prompt => {
    const isLong = needs.has('cache') || needs.has('tier') || draw.chance(0.5)
    const tokens = isLong ? draw.whole(1000, 6000) : draw.whole(5, 400)
    return {
      ...{
        name: `prompt ${at}`,
        tokens,
        outputTokens: draw.whole(1, 400),
        maySearch: draw.chance(0.5),
      },
      cached: isLong ? tokens - draw.whole(1, 500) : 0,
      dialect: dialect === 'both' ? draw.one(['chat', 'messages'] as const) : dialect,
    }
  })
  const needed = (
    ['refused', 'broken', 'abort', 'empty', 'filtered', 'gateway_cache'] as const
  ).filter((ending) => needs.has(ending))
  const accounts = draw.chance(0.2) ? ['main', 'other'] : ['main']
  const count = draw.whole(3, 12)
  const written = new Set<string>()
  const asks: Ask[] = []
  let at = 1
  for (let nth = 0; nth < count; nth++) {
    const model = draw.one(terms.models)
    const prompt = draw.one(prompts)
    const ended = nth >= count - needed.length ? needed[count - 1 - nth]! : endOf(draw)
    const isCached =
      prompt.cached > 0 && (model.prices.cache_read !== undefined || draw.chance(0.3))
    const cache = `${model.id} ${prompt.name}`
    const usual = isCached ? cachedCounts(draw, prompt, model, written.has(cache)) : {}
    if (isCached && (ended === 'ok' || ended === 'empty' || ended === 'filtered'))
      written.add(cache)
    const output = isSteady ? prompt.outputTokens : draw.whole(1, 400)
    const canReason = model.prices.reasoning !== undefined && prompt.dialect === 'chat'
    const none = Object.fromEntries(parts.map((part) => [part, 0])) as Counts
    const counts = {
      ...none,
      input: prompt.tokens,
      ...usual,
      output,
      reasoning: canReason ? draw.whole(0, 300) : 0,
    }
    const isStream = ended === 'abort' || ended === 'broken' || draw.chance(0.4)
    const seconds = draw.one([0.4, 1, 2.5, 7])
    const received = draw.whole(0, counts.output)
    const earlier = asks.findIndex((each) => each.ended === 'ok' && each.prompt === prompt.name)
    const repeated = ended === 'gateway_cache' && earlier >= 0 ? asks[earlier]! : null
    asks.push({
      ...{ nth, at, seconds, prompt: prompt.name, dialect: prompt.dialect, isStream, counts },
      model: model.alias !== null && draw.chance(0.4) ? model.alias : model.id,
      maySearch: prompt.maySearch,
      searches:
        model.search !== null && prompt.maySearch && draw.chance(0.7) ? draw.whole(1, 3) : 0,
      ended: ended === 'gateway_cache' && repeated === null ? 'ok' : ended,
      received: ended === 'abort' ? received : 0,
      generated: Math.min(counts.output, received + draw.whole(0, 8)),
      isFlex: model.flex !== null && draw.chance(0.4),
      account: draw.one(accounts),
      repeats: repeated === null ? null : earlier,
      ...(repeated === null ? {} : { ...sameAs(repeated), isStream: repeated.isStream }),
    })
    at += draw.chance(0.1) ? 0.2 : seconds + draw.one([0.5, 3, 15])
  }
  return asks
}

const sameAs = ({ model, prompt, dialect, counts, maySearch, searches, isFlex }: Ask) => ({
  ...{ model, prompt, dialect, counts, maySearch, searches, isFlex },
})

function endOf(draw: Draw): Ask['ended'] {
  if (draw.chance(0.85)) return 'ok'
  return draw.one(['refused', 'broken', 'abort', 'empty', 'filtered', 'gateway_cache'] as const)
}

/** The first request of a prompt writes a cache, if writes have a price, and the next ones read it. */
function cachedCounts(
  draw: Draw,
  { tokens, cached, dialect }: Prompt,
  model: Model,
  isWritten: boolean,
) {
  const rest = tokens - cached
  if (isWritten) return { input: rest, cache_read: cached }
  if (model.prices.cache_write === undefined) return {}
  const isHour =
    dialect === 'messages' && model.prices.cache_write_1h !== undefined && draw.chance(0.5)
  return isHour ? { input: rest, cache_write_1h: cached } : { input: rest, cache_write: cached }
}

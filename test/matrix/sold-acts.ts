import type { RequestSpec } from '../../src/client/call/request.ts'
import type { FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { ScriptText } from '../../src/run/plan/script-text.ts'
import { TokenText, words as tokenWords } from '../../src/run/plan/token-text.ts'
import { audited, repeated, words } from '../audit/sold/texts.ts'
import { type Act, act } from './act.ts'

const codes = (size: number, seed: number) => new ScriptText(seed).text('codes', size, seed)

/** The reference service counts cl100k, four tokens for each message and three before the answer. */
const told: FullContract = {
  ...defaultContract,
  models: defaultContract.models.map((model) => ({
    ...model,
    tokenizer: 'cl100k',
    contextWindowTokens: 8_000,
    templateTokens: 7,
    maxReasoningTokens: 400,
    cache: { leastTokens: 1_024, stepTokens: 128 },
    tools: { schema: 0.97, intact: true },
    servedTiers: [{ tier: 'priority', ttft: 0.8 }],
  })),
}

const asking = (
  texts: readonly string[],
  contract: FullContract,
  maxTokens = 1,
  isStream: (at: number) => boolean = () => false,
): Act =>
  act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      for (const [at, content] of texts.entries())
        await stage.send(stage.sender('main'), {
          messages: [{ role: 'user', content }],
          ...{ maxTokens, stream: isStream(at), includeUsage: isStream(at) },
        })
    },
    { contract },
  )

/** Answers whose times vary. */
const slower = {
  timeToFirstUs: { kind: 'lognormal', median: 40_000, sigma: 0.15 },
  betweenTokensUs: { kind: 'constant', value: 100 },
  lengthTokens: { kind: 'constant', value: 8 },
} as const

const streams = (specs: readonly Partial<RequestSpec>[]): Act =>
  act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      for (const spec of specs)
        await stage.send(stage.sender('main'), {
          ...{ stream: true, includeUsage: true, maxTokens: 2 },
          ...spec,
        })
    },
    { contract: told, shape: slower },
  )

/** Answers that are written at two milliseconds a token. */
const written = {
  timeToFirstUs: { kind: 'constant', value: 10_000 },
  betweenTokensUs: { kind: 'constant', value: 2_000 },
  lengthTokens: { kind: 'constant', value: 60 },
} as const

/** Streams of sixty tokens, by a model whose reasoning is hidden. */
const thought = act(
  [{ name: 'main', balance: 3_000 }],
  async (stage) => {
    for (let at = 1; at <= 12; at++)
      await stage.send(stage.sender('main'), {
        ...{ stream: true, includeUsage: true, maxTokens: 60 },
        messages: [{ role: 'user', content: `Count from ${at} to 900.` }],
      })
  },
  { contract: told, shape: written },
)

/** Blocks of a fresh prompt, and in turn the same again and another. */
const repeatsAndFresh = Array.from({ length: 48 }, (_, block) => {
  const fresh = (nth: number) => new TokenText(7).unique(1_200, block * 2 + nth)
  const first = fresh(0)
  return block % 2 === 0 ? [first, first, fresh(1)] : [first, fresh(1), first]
})
  .flat()
  .map((content) => ({ messages: [{ role: 'user', content }] }))

const tiers = Array.from({ length: 24 }, () => [{}, paid(), paid(), {}])
  .flat()
  .map((body, at) => ({ ...{ body }, messages: [{ role: 'user', content: `Hello ${at}.` }] }))
function paid(): Record<string, unknown> {
  return { service_tier: 'priority' }
}

const installing = {
  type: 'function',
  function: {
    name: 'run_shell',
    parameters: {
      type: 'object',
      properties: { command: { type: 'string' }, folder: { type: 'string' } },
      required: ['command', 'folder'],
    },
  },
}
const toolRequests = act(
  [{ name: 'main', balance: 3_000 }],
  async (stage) => {
    for (let at = 0; at < 100; at++) {
      const given = {
        command: `pip install ${words[at % words.length]}-${at}`,
        folder: `/srv/${at}`,
      }
      const content =
        at % 2 === 0
          ? `Install ${at}.`
          : `Call it with exactly these arguments: ${JSON.stringify(given)}`
      await stage.send(stage.sender('main'), {
        messages: [{ role: 'user', content }],
        maxTokens: 100,
        body: { tools: [installing], tool_choice: 'required' },
      })
    }
  },
  { contract: told },
)

const officialUrl = 'https://official.example'

/**
 * Sessions of twenty prompts of one word, each `times` times for one token, half a day apart. Requests of one prompt are sent together, so
 * that a session takes little time.
 */
const sessions = (
  count: number,
  times: number,
  promise: object,
  reference: string | null = null,
) => {
  const contract: FullContract = {
    ...told,
    models: told.models.map((model) => ({ ...model, ...promise })),
  }
  return act(
    [{ name: 'main', balance: 100_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      for (let session = 0; session < count; session++) {
        for (const content of tokenWords.slice(0, 20))
          await stage.together(times, () =>
            stage.send(
              sender,
              { messages: [{ role: 'user', content }], maxTokens: 1 },
              { phase: `session ${session}` },
            ),
          )
        stage.rest(43_200)
      }
    },
    { contract },
    null,
    reference,
  )
}

/** Words, and long answers, at the service and at its reference, by a contract that promises no template. */
const compared = act(
  [{ name: 'main', balance: 3_000 }],
  async (stage) => {
    const sender = stage.sender('main')
    for (const content of words.slice(0, 5))
      await stage.send(sender, { messages: [{ role: 'user', content }], maxTokens: 1 })
    for (let at = 1; at <= 10; at++)
      await stage.send(sender, {
        messages: [{ role: 'user', content: `Count from ${at} to 900.` }],
        maxTokens: 200,
      })
  },
  {
    contract: {
      ...told,
      models: told.models.map(({ templateTokens: _, ...model }) => ({
        ...model,
        reference: { baseUrl: officialUrl },
      })),
    },
  },
  null,
  officialUrl,
)

/** Twenty-four questions at the service and at its reference, whose answers end by themselves. */
const reasoned = act(
  [{ name: 'main', balance: 3_000 }],
  async (stage) => {
    for (let at = 1; at <= 24; at++)
      await stage.send(stage.sender('main'), {
        messages: [{ role: 'user', content: `What is the last digit of 7 to the power of ${at}?` }],
        maxTokens: 600,
      })
  },
  {
    contract: {
      ...told,
      models: told.models.map((model) => ({ ...model, reference: { baseUrl: officialUrl } })),
    },
  },
  null,
  officialUrl,
)

/** Ten sessions of twenty prompts at rest, one request a second, and as many answers under load, in one run. */
const restAndLoad = act(
  [{ name: 'main', balance: 100_000 }],
  async (stage) => {
    const sender = stage.sender('main')
    const ask = (content: string, phase: string) =>
      stage.send(sender, { messages: [{ role: 'user', content }], maxTokens: 1 }, { phase })
    const loads = {
      session: { kind: 'concurrency', toUsers: 1 },
      rest: { kind: 'concurrency', toUsers: 1 },
      search: { kind: 'sweep' },
    }
    stage.scenarioJson = JSON.stringify({
      phases: Object.entries(loads).map(([name, load]) => ({ name, load })),
    })
    const asked = Array.from({ length: 40 }, () => tokenWords.slice(0, 20)).flat()
    for (const [at, content] of asked.entries()) {
      await ask(content, at < 80 ? 'session' : 'rest')
      stage.rest(1)
    }
    for (let at = 0; at < asked.length; at += 40)
      await Promise.all(asked.slice(at, at + 40).map((content) => ask(content, 'search 1')))
  },
  {
    contract: {
      ...told,
      models: told.models.map((model) => ({ ...model, fixed: true })),
      bands: told.bands.map((band) => ({
        ...band,
        requests: { minute: 10_000, hour: 100_000, day: 100_000 },
      })),
    },
  },
)

const jumping = (own: Act): Act => ({ ...own, jumps: true })

/** What the provider sells, by a contract that says so. Load takes real time, and nothing else does. */
export const soldActs = {
  // Two texts of each size: the second as a stream.
  texts: jumping(asking(audited, told, 1, (at) => at % 2 === 1)),
  short: jumping(asking(words.slice(0, 5), told)),
  long: jumping(
    asking(
      Array.from({ length: 10 }, (_, at) => `Count from ${at + 1} to 900.`),
      told,
      200,
    ),
  ),
  codes: jumping(
    asking([codes(2_000, 1), ...[2, 3, 4, 5].map((seed) => codes(7_600, seed))], told, 400),
  ),
  cached: jumping(streams(repeatsAndFresh)),
  tiers: jumping(streams(tiers)),
  tools: jumping(toolRequests),
  repeats: jumping(asking(repeated, defaultContract)),
  thought: jumping(thought),
  reasoned: jumping(reasoned),
  compared: jumping(compared),
  watched: jumping(sessions(60, 2, { fixed: true })),
  loaded: restAndLoad,
  referenced: jumping(sessions(10, 4, { reference: { baseUrl: officialUrl } }, officialUrl)),
} as const satisfies Readonly<Record<string, Act>>

import type { FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { type Act, act, balance } from './act.ts'
import { breakingUpstream } from './breaking-upstream.ts'

/** A contract with windows so small that short prompts reach them. */
const smallWindows: FullContract = {
  ...defaultContract,
  models: defaultContract.models.map((model) => ({ ...model, contextWindowTokens: 300 })),
  limits: {
    ...defaultContract.limits,
    maxInputTokens: 300,
    maxOutputTokens: 120,
    maxTotalTokens: 350,
  },
}

/** Answers that fail, are too long, or take their time. */
export const answerActs = {
  retries: act([{ name: 'main', balance: 95 }], async (stage) => {
    const sender = stage.sender('main')
    await stage.send(sender, balance)
    for (let nth = 0; nth < 50; nth++) {
      await stage.sendWithRetries(sender)
      if (nth % 10 === 9) await stage.send(sender, balance)
    }
    await stage.send(sender, balance)
  }),
  outages: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      await stage.send(sender, balance)
      // With an Origin, as from a page: it must be able to read that the service is out.
      const headers = { origin: 'https://example.com' }
      for (let nth = 0; nth < 40; nth++)
        await stage.send(sender, { stream: nth % 2 === 1, headers })
      await stage.send(sender, balance)
    },
    { outage: { status: 503, probability: 0.2 } },
  ),
  windows: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ')
      const ask = (content: string) => ({ messages: [{ role: 'user', content }] })
      // Twice: only reads show the price of a read.
      await stage.send(sender, balance)
      await stage.send(sender, balance)
      for (const endpoint of ['chat', 'messages'] as const) {
        await stage.send(sender, { endpoint, ...ask(words(700)) })
        await stage.send(sender, {
          endpoint,
          ...ask('Count from 1 to 999, please.'),
          maxTokens: 400,
        })
        await stage.send(sender, {
          endpoint,
          ...ask(`Count from 1 to 999. ${words(60)}`),
          maxTokens: 120,
        })
        await stage.send(sender, {
          endpoint,
          ...ask(`Count from 1 to 999. ${words(110)}`),
          maxTokens: 120,
        })
      }
      await stage.send(sender, balance)
    },
    { contract: smallWindows },
  ),
  slow: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      await stage.send(sender, balance)
      let over = false
      const streams = Promise.all(
        ['Count from 1 to 45, please.', 'Count from 2 to 46, please.'].map((content) =>
          stage.send(sender, {
            stream: true,
            messages: [{ role: 'user', content }],
            maxTokens: 90,
          }),
        ),
      )
      void streams.then(() => {
        over = true
      })
      for (let second = 0; second < 400 && !over; second++) {
        stage.rest(1)
        if (second === 20) await stage.send(sender, balance)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      await streams
      await stage.send(sender, balance)
    },
    {
      shape: {
        timeToFirstUs: { kind: 'constant', value: 1e6 },
        betweenTokensUs: { kind: 'constant', value: 1e6 },
        lengthTokens: { kind: 'constant', value: 8 },
      },
    },
  ),
  breaking: act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      const sender = stage.sender('main')
      for (let nth = 0; nth < 4; nth++) {
        await stage.send(sender, balance)
        // A failed messages stream reports it; one that only ends may have been cut in transit.
        await stage.send(sender, { endpoint: 'messages', stream: true })
      }
      await stage.send(sender, balance)
    },
    {},
    breakingUpstream,
  ),
} as const satisfies Readonly<Record<string, Act>>

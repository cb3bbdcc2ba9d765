import type { Session } from '../store/session/session.ts'
import { type Html, html } from '../user/html.ts'
import { formatNumber } from './format.ts'

interface Kind {
  readonly endpoint: string
  readonly model: string | null
  readonly streamed: boolean
  readonly sent: number
  /** Means over the answers that report them; null without any. */
  readonly promptTokens: number | null
  readonly outputTokens: number | null
}

/** Kinds of requests that are named; the others are counted. */
const mostKinds = 3

/** What was sent, for the first screen: endpoint, model and tokens of each kind of request, the most frequent first. */
export async function workloadText(session: Session): Promise<Html | false> {
  const kinds = await session.rows<Kind>(`
    SELECT endpoint, model, streamed = 1 AS streamed, count(*)::DOUBLE AS sent,
      avg(prompt_tokens) AS "promptTokens", avg(completion_tokens) AS "outputTokens"
    FROM shown_attempts WHERE was_sent AND (counted OR part = 'trial')
    GROUP BY ALL ORDER BY sent DESC, endpoint, model, streamed`)
  if (kinds.length === 0) return false
  const more = kinds.length - mostKinds
  const named = kinds.slice(0, mostKinds).map(kindText)
  return html`Requests: ${named.map((kind, at) => html`${at > 0 && '; '}${kind}`)}${more > 0 && `; and ${more} more kinds`}.`
}

function kindText({ endpoint, model, streamed, promptTokens, outputTokens }: Kind): Html {
  const tokens =
    promptTokens === null && outputTokens === null
      ? 'tokens not reported'
      : `on average ${tokensText(promptTokens)} prompt and ${tokensText(outputTokens)} output tokens`
  return html`<b>${endpoint}</b>${streamed && ', streamed'}${model !== null && html`, model <b>${model}</b>`}, ${tokens}`
}

const tokensText = (mean: number | null) =>
  mean === null ? 'unknown' : formatNumber(mean < 10 ? Number(mean.toFixed(1)) : Math.round(mean))

import { isFilterReason } from '../../../attempt/filter-reasons.ts'
import { pricesOutput } from '../../../contract/price-entry.ts'
import type { ChargedOutcome, ModelPrice } from '../../../contract/prices.ts'
import { generates } from '../../../contract/request.ts'
import { outputOf, promptOf, type Usage } from '../../../tokens/usage.ts'
import { isCacheHit } from './answer-head.ts'
import type { Row } from './stored-row.ts'

/** Whether the request asks for text: embeddings have none, and some services count an output of 0 for them. */
const isTextual = ({ endpoint }: Row, model: ModelPrice | null) =>
  generates(endpoint) || (endpoint === 'other' && model !== null && pricesOutput(model.price))

/** How a request may have ended, as far as its charge is concerned. */
export function outcomesOf(
  row: Row,
  usage: Usage | null,
  hasEnded: boolean,
  headers: ReadonlyMap<string, string>,
  model: ModelPrice | null,
): readonly ChargedOutcome[] {
  const { outcome, finishReason, doneMarks, responseHeaders } = row
  if (outcome === 'http_error') return ['refused']
  if (outcome === 'broken') return ['broken']
  const isCut = outcome === 'aborted' || outcome === 'timeout'
  // Its end says that the whole answer was sent before the service saw the client leave.
  if (isCut && doneMarks === 0) return hasEnded ? ['abort', 'success'] : ['abort']
  if (headers.has('x-litellm-cache-key') || isCacheHit(headers)) return ['gateway_cache', 'success']
  if (isFilterReason(finishReason)) return ['filtered']
  const isEmpty =
    isTextual(row, model) &&
    usage !== null &&
    outputOf(usage.parts) === 0 &&
    (promptOf(usage.parts) ?? 0) > 0
  const answered = isEmpty ? 'empty' : 'success'
  return responseHeaders === null && isCachePriced(model) ? [answered, 'gateway_cache'] : [answered]
}

/** Whether answers of the gateway's cache have a charge of their own. Headers that were not stored may have named one. */
function isCachePriced(model: ModelPrice | null): boolean {
  if (model === null) return false
  const { gateway_cache: cached, success } = model.charged
  return cached !== 'open' && cached !== success
}

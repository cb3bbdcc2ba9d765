import type { ModelPrice } from '../contract/prices.ts'
import { tokenPrices } from '../contract/prices.ts'
import { isObject } from '../user/json.ts'

/** Whether something other than tokens and requests has a price: calls of tools, searches, images, seconds. */
export const pricesCalls = ({ price }: Pick<ModelPrice, 'price'>): boolean =>
  Object.keys(price).some((name) => name !== 'request' && !Object.hasOwn(tokenPrices, name))

/** Tools that the client runs itself. */
const ofClient: readonly unknown[] = ['function', 'custom', undefined]

/** Whether the body of a request lets the service search, draw, or run tools of its own, as often as the model likes. */
export function asksForCalls(body: Readonly<Record<string, unknown>>): boolean {
  const { tools, modalities, model } = body
  return (
    (Array.isArray(tools) &&
      tools.some((tool) => isObject(tool) && !ofClient.includes(tool.type))) ||
    (Array.isArray(modalities) && modalities.includes('image')) ||
    (typeof model === 'string' && model.endsWith(':online')) ||
    Object.keys(body).some((name) => /search|plugin/i.test(name))
  )
}

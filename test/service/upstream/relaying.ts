import { serving, type Target } from '../serving.ts'

export const accounts = [{ name: 'ready', balance: 50 }]

/** A service in front of an upstream, and its one key. */
export async function inFrontOf(
  url: string,
  more: object = {},
): Promise<{ target: Target; key: string }> {
  const target = await serving({ accounts, upstream: { url, ...more } })
  return { target, key: target.service.keys[0]!.apiKey }
}

export async function remaining(target: Target, key: string): Promise<number> {
  return (await target.credits(key)).remaining!
}

import { z } from 'zod'
import { Reader } from '../client/reader.ts'
import type { Contract } from '../contract/contract.ts'

const listShape = z.object({ data: z.array(z.object({ id: z.string().min(1) })) })

/** The first model that a service lists; null where it lists none. */
export async function firstModel(
  baseUrl: string,
  key: string,
  contract: Contract,
): Promise<string | null> {
  const reader = new Reader(baseUrl, key, contract, 'models')
  try {
    const { captured } = await reader.read()
    const list = listShape.safeParse(jsonOf(captured?.body ?? ''))
    return list.data?.data[0]?.id ?? null
  } finally {
    await reader.close()
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

import type { Contract } from './contract.ts'

/** The contract of an unknown service: nothing but the formats themselves (chat, messages, SSE, HTTP). */
export const formatsOnly: Contract = { name: 'formats only' }

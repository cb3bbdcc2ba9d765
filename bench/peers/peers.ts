import { llmTools } from './llm-tools.ts'
import { own } from './own.ts'
import type { Peer } from './peer.ts'
import { webTools } from './web-tools.ts'

export const peers: readonly Peer[] = [...own, ...webTools, ...llmTools]

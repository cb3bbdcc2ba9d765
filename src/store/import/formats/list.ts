import { claudeCode, codex, cursor, geminiCli } from './agents.ts'
import { anthropicAnalytics, anthropicCosts, anthropicUsage } from './anthropic.ts'
import { anthropicCostsTable, anthropicTokensTable } from './anthropic-console.ts'
import { azureCosts, azureMetrics } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { awsCur, copilot, fireworks, focusCharges } from './bills.ts'
import { cloudflareLogpush, cloudflareLogs } from './cloudflare.ts'
import type { KnownFormat } from './format.ts'
import { gcpBilling } from './gcp.ts'
import { helicone } from './helicone.ts'
import { langfuse } from './langfuse.ts'
import { litellmActivity, litellmSpend } from './litellm.ts'
import { newApi, oneApi } from './one-api.ts'
import { openaiCosts, openaiMediaUsage, openaiOlderUsage, openaiUsage } from './openai.ts'
import { openrouterActivity, openrouterCsv, openrouterGeneration } from './openrouter.ts'
import { otlp } from './otlp.ts'
import { vercel } from './vercel.ts'

/** Every log that needs no mapping. The first that recognises a file reads it. */
export const knownFormats: readonly KnownFormat[] = [
  otlp,
  claudeCode,
  codex,
  geminiCli,
  cursor,
  awsCur,
  focusCharges,
  gcpBilling,
  copilot,
  fireworks,
  litellmActivity,
  litellmSpend,
  openaiCosts,
  openaiMediaUsage,
  openaiUsage,
  openaiOlderUsage,
  anthropicAnalytics,
  anthropicUsage,
  anthropicCosts,
  anthropicTokensTable,
  anthropicCostsTable,
  openrouterCsv,
  openrouterGeneration,
  openrouterActivity,
  newApi,
  oneApi,
  langfuse,
  helicone,
  azureMetrics,
  azureCosts,
  bedrock,
  vercel,
  cloudflareLogpush,
  cloudflareLogs,
]

import { creditsTopics, type FullContract } from './contract.ts'

/**
 * The service interface specification, §1 to §9, as data.
 *
 * @example
 * console.log(defaultContract.models.map(({ id }) => id))
 */
export const defaultContract: FullContract = {
  name: 'svc',
  https: true,
  crossOrigin: true,
  models: [
    { id: 'svc-k2', contextWindowTokens: 128_000, costCredits: 1, listed: true, reasoning: false },
    {
      id: 'svc-k2-0905',
      contextWindowTokens: 256_000,
      costCredits: 1,
      listed: true,
      reasoning: false,
    },
    {
      id: 'svc-k2-thinking',
      contextWindowTokens: 256_000,
      costCredits: 1,
      listed: true,
      reasoning: true,
    },
    {
      id: 'svc-k2.5',
      contextWindowTokens: 256_000,
      costCredits: 2,
      listed: false,
      reasoning: false,
    },
  ],
  bands: [
    {
      name: '1-100',
      minBalance: 1,
      maxBalance: 100,
      requests: { minute: 20, hour: 600, day: 5_000 },
    },
    {
      name: '101-1000',
      minBalance: 101,
      maxBalance: 1_000,
      requests: { minute: 60, hour: 2_000, day: 20_000 },
    },
    {
      name: '1001-10000',
      minBalance: 1_001,
      maxBalance: 10_000,
      requests: { minute: 200, hour: 6_000, day: 50_000 },
    },
    {
      name: '10000+',
      minBalance: 10_000,
      maxBalance: null,
      requests: { minute: 500, hour: 15_000, day: 100_000 },
    },
  ],
  paths: {
    chat: '/v1/chat/completions',
    messages: '/v1/messages',
    models: '/v1/models',
    credits: '/user/credits',
  },
  headers: {
    creditsRemaining: ['x-credits-remaining'],
    rateLimit: ['x-ratelimit-limit'],
    rateRemaining: ['x-ratelimit-remaining'],
    rateReset: ['x-ratelimit-reset'],
  },
  resetFormat: 'number',
  auth: {
    chat: { name: 'authorization', prefix: 'Bearer ' },
    messages: { name: 'x-api-key', prefix: '' },
  },
  statuses: [200, 400, 401, 403, 404, 429, 500, 503],
  chatErrors: [
    { code: 'invalid_api_key', type: 'invalid_request_error', status: 401 },
    { code: 'insufficient_credits', type: 'insufficient_quota', status: 403 },
    { code: 'rate_limit_exceeded', type: 'rate_limit_error', status: 429 },
    { code: 'invalid_request', type: 'invalid_request_error', status: 400 },
    { code: 'model_not_found', type: 'invalid_request_error', status: null },
    { code: 'context_length_exceeded', type: 'invalid_request_error', status: null },
  ],
  messagesErrors: [
    { type: 'authentication_error', statuses: [401] },
    { type: 'invalid_request_error', statuses: null },
    { type: 'rate_limit_error', statuses: [429] },
    { type: 'api_error', statuses: [500, 503] },
  ],
  finishReasons: ['stop', 'length'],
  responseFields: {
    chat: ['system_fingerprint', 'usage'],
    credits: creditsTopics,
    model: ['permission', 'root', 'parent'],
  },
  limits: {
    maxInputTokens: 128_000,
    maxOutputTokens: 8_192,
    maxTotalTokens: 128_000,
    maxTokensParameter: 128_000,
    maxStopSequences: 4,
  },
  ranges: {
    chatTemperature: { min: 0, max: 2 },
    messagesTemperature: { min: 0, max: 1 },
    penalty: { min: -2, max: 2 },
  },
  defaults: { temperature: 0.6, topP: 1, maxTokens: 1024, n: 1 },
  timeouts: { connectMs: 30_000, readMs: 600_000, streamMs: 600_000 },
  retry: { maxAttempts: 3, baseDelayMs: 1_000, jitterMs: 1_000, maxDelayMs: 60_000 },
  grants: { newAccount: 100, inviteRegistration: 50, inviteFirstPayment: 500 },
  packages: [
    {
      name: 'Starter',
      credits: 500,
      priceUsdCents: 499,
      listedUsdPerCredit: 0.0099,
      validMonths: null,
    },
    {
      name: 'Standard',
      credits: 5_000,
      priceUsdCents: 2_999,
      listedUsdPerCredit: 0.006,
      validMonths: 1,
    },
    {
      name: 'Premium',
      credits: 20_000,
      priceUsdCents: 5_999,
      listedUsdPerCredit: 0.003,
      validMonths: 1,
    },
  ],
}

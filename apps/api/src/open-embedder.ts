import type { Config } from '@toolyard/config/settings'
import { createHttpEmbedder } from '@toolyard/relevance/create-http-embedder'
import { createLocalEmbedder } from '@toolyard/relevance/create-local-embedder'
import type { Embedder } from '@toolyard/relevance/embedder'

export type EmbeddingsConfig = Config<
  'embeddingsUrl' | 'embeddingsModel' | 'embeddingsDimensions' | 'embeddingsKey'
>

/** The one that is configured; otherwise the model that comes with the product. Neither is asked for anything yet. */
export function openEmbedder(config: EmbeddingsConfig): Embedder {
  const { embeddingsUrl: url, embeddingsKey: key } = config
  if (url === undefined) return createLocalEmbedder()
  return createHttpEmbedder({
    url,
    model: config.embeddingsModel,
    dimensions: config.embeddingsDimensions,
    ...(key === undefined ? {} : { key: key.reveal() }),
  })
}

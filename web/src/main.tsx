import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

import { ApiError } from './api.ts'
import { App } from './App.tsx'
import { goLive } from './live.ts'
import './page.css'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Infinity,
      refetchOnWindowFocus: false,
      // A refusal (4xx) is an answer; anything else is worth asking again until it is one.
      retry: (_count, error) => !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      retryDelay: (count) => Math.min(500 * 2 ** count, 4000),
      networkMode: 'always',
    },
  },
})

void goLive()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)

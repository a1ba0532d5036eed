import type { Card } from '../reading/blocks.ts'

export const news = {
  bugbots: {
    id: 'bugbots',
    title: 'Bug robots: small, soft and hard to break',
    snippet: 'Robots the size of a stamp run like a cockroach and fly like a bee. What they teach us about muscles.',
    link: '/news/bugbots',
    category: 'News',
    date: '2025-09-05',
    picture: 'bug-robot',
  },
  fallLaunch: {
    id: 'fall-launch',
    title: 'Our fall 2025 classes begin in October',
    snippet: 'Four levels, four start dates, one box on its way to you. And a sibling joins free.',
    link: '/news/fall-launch',
    category: 'News',
    date: '2025-08-23',
    picture: 'launch',
  },
  securityBasics: {
    id: 'security-basics',
    title: 'How to tell a safe website from one that only looks safe',
    snippet: 'Seven habits for parents that take a minute each, and what we do on our side.',
    link: '/news/security-basics',
    category: 'News',
    date: '2025-08-20',
    picture: 'shield',
  },
  welcome: {
    id: 'welcome',
    title: 'Welcome to Robo Kids Learning',
    snippet: 'Why we send boxes full of motors to children, and what we hope happens at your table.',
    link: '/news/welcome',
    category: 'News',
    date: '2025-08-18',
    picture: 'welcome',
  },
} as const satisfies Record<string, Card>

export const newsCards: readonly Card[] = Object.values(news)

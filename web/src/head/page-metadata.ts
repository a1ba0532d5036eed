import type { ShareImage } from './share-images.ts'

export interface PageAbout {
  /** One or two sentences, at most 160 characters, shown in search results. */
  description: string
  image: ShareImage
  type?: 'article'
}

/** Every page that is the same for all visitors. Pages without an entry are personal and not indexed. */
export const pageMetadata: Readonly<Record<string, PageAbout>> = {
  '/': {
    description:
      'Live online robotics classes for children, with a kit shipped to your home. Small groups of 5 to 10 students, four levels, guides and a mentorship program.',
    image: 'home',
  },
  '/robokidslanding': {
    description:
      'Four levels of live robotics classes for children: prices, dates and open seats, what is in the kit, and what parents say.',
    image: 'classes',
  },
  '/levels': {
    description:
      'Which robotics class fits your child? Our four levels side by side: ages, length, price, what is built, and the kit.',
    image: 'classes',
  },
  '/robokids': {
    description:
      'Level 1 Foundations: your child builds a first rover, live with a coach in a small group. The kit comes to your home.',
    image: 'classes',
  },
  '/robokidspage1': {
    description:
      'Level 1 Foundations: your child builds a first rover, live with a coach in a small group. The kit comes to your home.',
    image: 'classes',
  },
  '/robokidspage2': {
    description:
      'Level 2 Smart Robotics and Coding: code that senses, decides and grips, live in a small group with a kit at home.',
    image: 'classes',
  },
  '/robokidspage3': {
    description:
      'Level 3 Autonomous Mastery: teach a robot to find its own way, live in a small group with a kit at home.',
    image: 'classes',
  },
  '/robokidspage4': {
    description:
      'Level X Custom Innovation Lab: invent a robot that nobody has built before, with a coach and the parts for it.',
    image: 'classes',
  },
  '/shop': {
    description:
      'Kits for all class levels, the Robot Spider and the AI Teddy Bear Companion: what each is, and when it comes.',
    image: 'shop',
  },
  '/shop/robot-spider': {
    description:
      'The Robot Spider: eight jointed legs and a friendly face. What it is, what it costs, and how to pre-order yours.',
    image: 'shop',
  },
  '/shop/teddy-bear': {
    description:
      'The AI Teddy Bear Companion: soft outside, a small computer inside. What it is, and how to get an alert when it comes.',
    image: 'shop',
  },
  '/membership': {
    description:
      'A monthly or yearly membership: a live members’ session on each class date, in a small group with a coach.',
    image: 'membership',
  },
  '/membership/register': {
    description: 'Create your account and choose a plan and a class date. You register as the parent or guardian.',
    image: 'membership',
  },
  '/membership/login': {
    description: 'Log in to your membership: by password, passkey or a code we send you.',
    image: 'membership',
  },
  '/confirm': {
    description: 'Confirm your email with the code we emailed you, and your account is ready.',
    image: 'membership',
  },
  '/about': {
    description:
      'We build small personal robots and robotic muscles in Silicon Valley, and teach children live, with kits shipped across the U.S.',
    image: 'about',
  },
  '/about/founder-robo-kids-learning': {
    description: 'Who started Robo Kids Learning, why, and what the bench at home has to do with it.',
    image: 'about',
  },
  '/about/director-educational-services': {
    description: 'Who plans our classes, and what makes a good one: one thing to build, one thing to find out.',
    image: 'about',
  },
  '/contact': {
    description:
      'Send us a message, email us or ask for a call: when we reply, and what to include so we can help right away.',
    image: 'about',
  },
  '/faq': {
    description:
      'Answers for parents: choosing a level, paying and refunds, the waiver, the kit, the class link, time zones, memberships.',
    image: 'about',
  },
  '/privacy': {
    description:
      'What we collect, why, how long we keep it, who sees it, how we protect children, and what your rights are.',
    image: 'about',
  },
  '/terms': {
    description:
      'The terms for our classes, kits, memberships and this site: who may register, payment, recording, liability.',
    image: 'about',
  },
  '/news-guides': {
    description: 'News from our bench, and three guides with wiring, parts and code to build at home.',
    image: 'guides',
  },
  '/news': {
    description: 'What is new at Robo Kids Learning: classes, research worth knowing, and help for parents.',
    image: 'news',
  },
  '/blog': {
    description:
      'Notes from the bench for parents: why a robot that fails is a good teacher, and a bench on the kitchen table.',
    image: 'news',
  },
  '/news/welcome': {
    description: 'Why we send boxes full of motors to children, and what we hope happens at your table.',
    image: 'news',
    type: 'article',
  },
  '/news/security-basics': {
    description:
      'Seven habits for parents to tell a safe website from one that only looks safe, and what we do on our side.',
    image: 'news',
    type: 'article',
  },
  '/news/fall-launch': {
    description: 'Our fall 2025 classes: four levels, their first days in October, and the kit that ships to you.',
    image: 'news',
    type: 'article',
  },
  '/news/bugbots': {
    description:
      'Robots the size of a stamp run like a cockroach and fly like a bee. What they teach us about muscles.',
    image: 'news',
    type: 'article',
  },
  '/guides/light-switch': {
    description:
      'Wire a pushbutton and an LED to a microcontroller: parts, circuit, code, a pull-up, and help when it stays dark.',
    image: 'guides',
    type: 'article',
  },
  '/guides/motor-guide': {
    description:
      'Drive a motor forward and backward at any speed: driver, battery, three pins, code and troubleshooting.',
    image: 'guides',
    type: 'article',
  },
  '/guides/servo-guide': {
    description:
      'Turn a servo to fixed angles, sweep it, or type where it goes: wiring, three sketches and troubleshooting.',
    image: 'guides',
    type: 'article',
  },
  '/innovator': {
    description:
      'A pilot mentorship program in five phases for older students: from an idea and a prototype to a company.',
    image: 'innovator',
  },
  '/follow': {
    description: 'Where to see what is on our bench: videos and pictures.',
    image: 'about',
  },
}

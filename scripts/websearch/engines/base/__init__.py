"""Shared by engines and sites: requests and answers, dates, pacing and cost."""

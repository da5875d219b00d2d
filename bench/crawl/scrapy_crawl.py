"""scrapy_crawl.py URL CONNECTIONS PAGES - a crawler with Scrapy, which stops after PAGES."""

import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

root, count, pages = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Spider(scrapy.Spider):
    name = "bench"
    start_urls = [root]
    extract = LinkExtractor(allow_domains=[urlsplit(root).netloc]).extract_links

    def parse(self, response):
        for link in self.extract(response):
            yield scrapy.Request(link.url, self.parse)


process = CrawlerProcess({
    "CONCURRENT_REQUESTS": count,
    "CONCURRENT_REQUESTS_PER_DOMAIN": count,
    "CLOSESPIDER_PAGECOUNT": pages,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
})
process.crawl(Spider)
process.start()
